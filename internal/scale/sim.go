package scale

import (
	"container/heap"
	"math/rand/v2"
)

// What the scheduler does, as package workstealing has it.
const (
	batch      = 32     // jobs that a worker takes from the inject queue at once
	poll       = 61     // one job in so many comes from the inject queue
	looks      = 4      // how often a worker looks around before it parks
	worthwhile = 50_000 // ns of work that must wait before another worker is woken for actors
	watch      = 1e6    // ns between two looks of the watchdog, which also learns what a turn takes
	row        = 64     // workers whose marks that they have something share a word
)

// Design is what the scheduler could be on large machines. The zero value is what it is.
type Design struct {
	Shards    int  // of the inject queue; 0 is 1
	Searchers int  // how many workers may search before no other is woken; 0 is 1
	NearFirst bool // workers look at victims of their own NUMA node first
}

// A job is what a worker runs.
type job struct {
	cost float64 // ns, without what it costs to get and to hand on
	turn float64 // ns of each turn it is made of, by which workers judge whether it is worth another one
	fork bool    // what forked it waits for it
	from int     // who has written it
	arg  int     // the load's
}

// A line is a cache line that several processors use. It serves one at a time: who writes has
// it alone, and who reads has a copy until the next write.
type line struct {
	part    Part
	owner   int         // who wrote last
	shared  bool        // others have copies
	free    float64     // when it can serve the next
	version int         // writes
	copies  map[int]int // the version of which a reader has a copy
}

// A worker has a processor of its own.
type worker struct {
	id, node  int
	queue     []job // the oldest first
	word      line  // of the queue
	produce   func(w *worker) bool
	running   bool
	job       job
	searching bool
	looked    int
	taken     int
	Shares
}

// Part is what a processor's time goes into.
type Part int

// The parts.
const (
	Work    Part = iota // jobs
	Queues              // the workers' queues: own ones and those of victims
	Inject              // the inject queue
	Search              // the word that counts who searches, and the marks of who has something
	Objects             // what jobs share: mailboxes, futures
	Looking             // looking around in vain
	Asleep              // parked, or on the way from there
	Parts
)

var partNames = [Parts]string{"work", "queues", "inject queue", "search word", "shared objects", "looking around", "asleep"}

// String returns the part's name.
func (p Part) String() string { return partNames[p] }

// Shares are nanoseconds by part.
type Shares [Parts]float64

// sim is one run of a load on a machine.
type sim struct {
	Machine
	Design
	load    load
	rng     *rand.Rand
	t       float64 // of the step in progress: it moves on as lines are waited for
	events  events
	workers []worker
	idle    []*worker

	search    line
	searching int
	rows      []line
	shown     []bool // which workers' marks are set
	shards    []shard
	over      bool
}

// A shard is an inject queue: producers claim places at one end and workers at the other.
type shard struct {
	jobs       []job
	head, tail line
}

// A load is a program.
type load interface {
	begin(s *sim)
	// ran is called at the end of a job, and hands on what follows.
	ran(s *sim, w *worker, j job)
	// ops is how many operations it has.
	ops() int
}

// An event is the moment at which a worker goes on.
type event struct {
	at  float64
	seq int
	w   *worker
}

type events struct {
	list []event
	seq  int
}

func (e *events) Len() int { return len(e.list) }
func (e *events) Less(i, j int) bool {
	a, b := e.list[i], e.list[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (e *events) Swap(i, j int) { e.list[i], e.list[j] = e.list[j], e.list[i] }

// Push implements [heap.Interface].
func (e *events) Push(x any) { e.list = append(e.list, x.(event)) }

// Pop implements [heap.Interface].
func (e *events) Pop() any {
	last := len(e.list) - 1
	x := e.list[last]
	e.list = e.list[:last]
	return x
}

// run runs a load on so many processors and returns how long it took, in nanoseconds, and what
// the processors' time went into. The same seed gives the same.
func run(m Machine, d Design, l load, processors int, seed uint64) (took float64, spent Shares) {
	s := &sim{
		Machine: m, Design: d, load: l,
		rng:     rand.New(rand.NewPCG(seed, 1)),
		workers: make([]worker, processors),
		rows:    make([]line, (processors+row-1)/row),
		shown:   make([]bool, processors),
		shards:  make([]shard, min(max(d.Shards, 1), processors)),
		search:  line{part: Search},
	}
	for i := range s.rows {
		s.rows[i].part = Search
	}
	for i := range s.shards {
		s.shards[i].head.part, s.shards[i].tail.part = Inject, Inject
	}
	nodes := max(m.Nodes, 1)
	for i := range s.workers {
		w := &s.workers[i]
		w.id, w.node, w.word = i, i*nodes/processors, line{part: Queues, owner: i}
		if i > 0 {
			s.idle = append(s.idle, w)
		}
	}
	s.at(&s.workers[0], 0)
	s.at(nil, watch)
	l.begin(s)
	for !s.over && len(s.events.list) > 1 { // one is the watchdog's
		e := heap.Pop(&s.events).(event)
		s.t = e.at
		if e.w == nil {
			s.look()
			continue
		}
		s.step(e.w)
		took = max(took, s.t)
	}
	for i := range s.workers {
		w := &s.workers[i]
		awake := 0.0
		for p, ns := range w.Shares {
			spent[p] += ns
			awake += ns
		}
		spent[Asleep] += max(took-awake, 0)
	}
	return took, spent
}

// at has w go on at a time.
func (s *sim) at(w *worker, t float64) {
	s.events.seq++
	heap.Push(&s.events, event{t, s.events.seq, w})
}

// spend is time that w needs.
func (s *sim) spend(w *worker, p Part, ns float64) {
	w.Shares[p] += ns
	s.t += ns
}

// write is a locked instruction of w on a line. It waits until those before it have been served.
func (s *sim) write(w *worker, l *line) {
	begin := max(s.t, l.free)
	l.free = begin + s.reach(w, l)
	l.owner, l.shared = w.id, false
	l.version++
	s.spend(w, l.part, l.free-s.t)
}

// read is a look of w at a line.
func (s *sim) read(w *worker, l *line) {
	if l.owner == w.id {
		return
	}
	if v, ok := l.copies[w.id]; ok && v == l.version {
		return
	}
	if l.copies == nil {
		l.copies = map[int]int{}
	}
	s.spend(w, l.part, s.reach(w, l))
	l.copies[w.id], l.shared = l.version, true
}

// reach is what it takes w to get a line.
func (s *sim) reach(w *worker, l *line) float64 {
	switch {
	case l.owner == w.id && !l.shared:
		return s.Own
	case s.Far > 0 && s.workers[l.owner].node != w.node:
		return s.Move * s.Far
	}
	return s.Move
}

// step ends what w has run, if anything, and finds it something else.
func (s *sim) step(w *worker) {
	if w.running {
		w.running = false
		s.load.ran(s, w, w.job)
		if s.over {
			return
		}
	}
	if w.produce != nil {
		if w.produce(w) {
			s.at(w, s.t)
			return
		}
		w.produce = nil
	}
	w.taken++
	s.read(w, &s.search)
	j, ok := job{}, false
	if w.taken%poll == 0 {
		j, ok = s.take(w)
	}
	if !ok {
		j, ok = s.pop(w)
	}
	if !ok {
		j, ok = s.take(w)
	}
	if !ok {
		j, ok = s.find(w)
	}
	if !ok {
		s.park(w)
		return
	}
	if w.searching {
		s.found(w)
	}
	w.looked = 0
	w.running, w.job = true, j
	s.work(w, j.cost)
	s.at(w, s.t)
}

// work is a job's own time. It is longer if more than one processor is at work.
func (s *sim) work(w *worker, ns float64) {
	if len(s.workers) > 1 {
		ns *= s.Crowd
	}
	s.spend(w, Work, ns)
}

// pop takes a job from w's own queue: the newest of forks, or else the oldest.
func (s *sim) pop(w *worker) (j job, ok bool) {
	n := len(w.queue)
	if n == 0 {
		return j, false
	}
	s.write(w, &w.word)
	if j = w.queue[n-1]; j.fork {
		w.queue = w.queue[:n-1]
	} else {
		j, w.queue = w.queue[0], w.queue[1:]
	}
	return j, true
}

// take takes jobs from the inject queue: w's shard first.
func (s *sim) take(w *worker) (j job, ok bool) {
	for i := range s.shards {
		q := &s.shards[(w.id+i)%len(s.shards)]
		s.read(w, &q.tail)
		if len(q.jobs) == 0 {
			continue
		}
		s.write(w, &q.head)
		n := min(batch, len(q.jobs)/len(s.workers)+1)
		for _, j := range q.jobs[:n] {
			if j.from != w.id { // a job is four words, so half a line that its producer has written
				s.spend(w, Inject, s.Move/2)
			}
		}
		j = q.jobs[0]
		if n > 1 {
			w.queue = append(w.queue, q.jobs[1:n]...)
			s.show(w)
		}
		q.jobs = q.jobs[n:]
		return j, true
	}
	return j, false
}

// find looks for a victim.
func (s *sim) find(w *worker) (j job, ok bool) {
	if !w.searching {
		w.searching = true
		s.searching++
		s.write(w, &s.search)
	}
	for {
		before := s.t
		if v := s.victim(w); v != nil {
			return s.steal(w, v)
		}
		s.spend(w, Looking, s.Yield)
		if w.looked++; w.looked >= looks {
			return j, false
		}
		if s.t == before {
			return j, false
		}
	}
}

// victim returns a worker that has something, from a random one on.
func (s *sim) victim(w *worker) *worker {
	n := len(s.workers)
	from := s.rng.IntN(n)
	var far *worker
	for i := range n {
		v := &s.workers[(from+i)%n]
		if v == w || len(v.queue) == 0 {
			continue
		}
		if !s.NearFirst || v.node == w.node {
			return v
		}
		if far == nil {
			far = v
		}
	}
	return far
}

// pays reports whether what waits at v is worth waking another worker: forks always are, and
// actors until it is known what their turns take.
func (s *sim) pays(v *worker) bool {
	n := len(v.queue)
	return n > 0 && (v.queue[0].fork || s.t < watch || float64(n)*v.queue[0].turn >= worthwhile)
}

// look is the watchdog's: it has a worker woken for actors that wait, worth it or not.
func (s *sim) look() {
	s.at(nil, s.t+watch)
	for i := range s.workers {
		if w := &s.workers[i]; len(w.queue) > 0 {
			s.wake(w)
			return
		}
	}
}

// steal takes the oldest half of what v has, but one of forks.
func (s *sim) steal(w, v *worker) (job, bool) {
	s.write(w, &v.word)
	n := (len(v.queue) + 1) / 2
	if n == 0 {
		return job{}, false
	}
	if v.queue[0].fork {
		n = 1
	}
	j := v.queue[0]
	w.queue = append(w.queue, v.queue[1:n]...)
	v.queue = v.queue[n:]
	s.spend(w, Objects, float64(n)*s.Move) // what jobs work on comes along
	if n > 1 {
		s.show(w)
	}
	return j, true
}

// found ends a search that was a success. Others are woken for what is left.
func (s *sim) found(w *worker) {
	w.searching = false
	s.searching--
	s.write(w, &s.search)
	if s.visible() {
		s.wake(w)
	}
}

// visible reports whether there is anything that a searching worker would take.
func (s *sim) visible() bool {
	for i := range s.shards {
		if len(s.shards[i].jobs) > 0 {
			return true
		}
	}
	for i := range s.workers {
		if s.pays(&s.workers[i]) {
			return true
		}
	}
	return false
}

// park ends a search in vain.
func (s *sim) park(w *worker) {
	w.searching = false
	w.looked = 0
	s.searching--
	s.write(w, &s.search)
	s.idle = append(s.idle, w)
	if s.visible() { // it looks once more
		s.wake(w)
	}
}

// wake has w start another worker, unless one searches.
func (s *sim) wake(w *worker) {
	s.read(w, &s.search)
	if s.searching >= max(1, s.Searchers) || len(s.idle) == 0 {
		return
	}
	s.write(w, &s.search)
	s.searching++
	last := len(s.idle) - 1
	next := s.idle[last]
	s.idle = s.idle[:last]
	next.searching = true
	s.at(next, s.t+s.Wake)
}

// show sets w's mark.
func (s *sim) show(w *worker) {
	if !s.shown[w.id] {
		s.shown[w.id] = true
		s.write(w, &s.rows[w.id/row])
	}
}

// push puts a job that w has made ready into its queue.
func (s *sim) push(w *worker, j job) {
	s.write(w, &w.word)
	w.queue = append(w.queue, j)
	s.show(w)
	if s.pays(w) {
		s.wake(w)
	}
}

// submit puts a job that comes from outside, from the producer w, into the inject queue.
func (s *sim) submit(w *worker, j job) {
	q := &s.shards[w.id%len(s.shards)]
	s.write(w, &q.tail)
	j.from = w.id
	q.jobs = append(q.jobs, j)
	s.wake(w)
}
