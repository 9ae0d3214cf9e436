package workstealing

import (
	"os"
	"slices"
	"testing"
)

// The model of LIVENESS.md: who comes to a job that is visible. A step is one access to what is
// shared: of pool.go and worker.go, whose functions the steps name. explore goes through all
// interleavings, and asks of each state whether the rest of the program can still end. A fault is
// a part of the protocol that is left out; most are single lines.

const (
	mWorkers = 3 // the most workers, each with its goroutine
	mJobs    = 4
)

// Where a goroutine is: before which step.
const (
	gNone    = iota
	gGrab    // look: takes a job from somewhere, at the place at; it searches
	gPublish // receive, steal: has taken several, and puts the others into its queue
	gStop    // look: has one, and lowers searching
	gLeft    // look: was the last, and looks what is left
	gSecond  // standBy: reads searching
	gStandBy // standBy: sets the flag and launches
	gRun     // its job
	gWaits   // in its job, for the one behind it
	gTake    // take
	gFind    // find: as grab, but does not search
	gFound   // find: reads searching
	gSearch  // find: has found nothing, reads searching
	gResign  // resign: lowers searching
	gAgain   // resign: looks once more
	gPark    // park: looks
	gAwait   // await: has a processor, looks
	gNeeded  // await: is needed, searches
	gTakes   // await: stops to stand by
	gDown    // standDown: has lowered the flag, looks once more
)

// What jobs do: end; wait for the end of the next or of the last one; tell the next one, which then
// is to run next here, and wait for it; and be pushed to their worker's queue once before they
// end. One that computes until another one ends is one that waits: it has a processor meanwhile,
// but nothing relies on that.
const (
	jEnds = iota
	jWaits
	jWaitsBack
	jTells
	jYields
)

// Where a job is: these, or mine+w in worker w's queue, or mine+mWorkers+w next there.
const (
	atNone = iota // not told yet
	atInject
	atRun
	atDone
	mine
	inHands = mine + 2*mWorkers // of worker w: it was taken with another one, and is not in the queue yet
)

// mgoroutine is a goroutine: where it is, at which place when it looks around, its job, and where it
// goes on after standBy.
type mgoroutine struct{ pc, at, job, after int8 }

// mstate is a state. It is comparable.
type mstate struct {
	g            [mWorkers]mgoroutine
	short, stuck [mWorkers]bool // turns are known to be short; marked stuck
	job          [mJobs]int8
	once         [mJobs]bool
	searching    int8
	standby      bool
	armed        bool
	told         int8 // by the sender
	wakes        bool // it has pushed one, or is about to with a fault, and has to wake
	dog          int8 // the watchdog: 0 waits, 1 is to wake, 3 to disarm, 2 has
}

// model is a program: what jobs do, how many of them are told from outside, in order.
type model struct {
	does    [mJobs]int
	outside int8
	workers int // MaxWorkers
	warm    bool
	fault   string
}

func (m *model) is(fault string) bool { return m.fault == fault }

// waits returns the jobs that wait for w, and whether those are worth another worker.
func (s *mstate) waits(w int) (some, pays bool) {
	for _, at := range s.job {
		switch at {
		case int8(mine + w):
			some, pays = true, pays || s.stuck[w] || !s.short[w]
		case int8(mine + mWorkers + w):
			some, pays = true, pays || s.stuck[w]
		}
	}
	return some, pays
}

func (s *mstate) queued() bool { return slices.Contains(s.job[:], atInject) }

func (s *mstate) first(where int8) int { return slices.Index(s.job[:], where) }

func (s *mstate) free(m *model) int {
	return slices.IndexFunc(s.g[:m.workers], func(g mgoroutine) bool { return g.pc == gNone })
}

// goes has goroutine i go on before step pc. What it does not need there it forgets: fewer states.
func (s *mstate) goes(i int, pc int8) {
	g := mgoroutine{pc: pc, job: -1}
	switch pc {
	case gStop, gLeft, gRun, gWaits, gFound:
		g.job = s.g[i].job
	case gPublish, gSecond, gStandBy:
		g.job, g.after = s.g[i].job, s.g[i].after
	}
	s.g[i] = g
}

// launch has a goroutine begin at pc, or arms the watchdog if there are as many as may be.
func (s *mstate) launch(m *model, pc int8, fault string) bool {
	i := s.free(m)
	if i < 0 {
		s.armed = s.armed || !m.is(fault)
		return false
	}
	s.goes(i, pc)
	return true
}

func (s *mstate) wake(m *model) {
	if s.searching == 0 && s.launch(m, gGrab, "wake: full, not armed") {
		s.searching++
	}
}

// run has i begin j.
func (s *mstate) begin(i, j int, pc int8) {
	s.job[j], s.g[i].job = atRun, int8(j)
	s.goes(i, pc)
}

// sees is a step of visible by i: it looks at one place, and goes on at found or at none.
func (s *mstate) sees(m *model, i int, found, none func()) {
	at := int(s.g[i].at)
	if at == 0 {
		if s.queued() && !m.is("visible: does not look into the inject queue") {
			found()
			return
		}
	} else if some, pays := s.waits(at - 1); pays {
		found()
		return
	} else if some && !m.is("visible: what does not pay is not armed for") {
		s.armed = true
	}
	if s.g[i].at++; int(s.g[i].at) > m.workers {
		none()
	}
}

// grab is a step of grab by i: it looks at one place, and takes from there if there is something.
func (s *mstate) grab(m *model, i int, batch bool, got, none int8) {
	at := int(s.g[i].at)
	from := int8(atInject)
	if at > 0 {
		from = int8(mine + at - 1)
	}
	j := -1
	if at-1 != i {
		j = s.first(from)
	}
	if j < 0 && at > 0 && at-1 != i && s.stuck[at-1] {
		j = s.first(int8(mine + mWorkers + at - 1))
	}
	switch {
	case j >= 0:
		s.begin(i, j, got)
		for k := range s.job {
			if batch && s.job[k] == from {
				s.job[k] = int8(inHands + i)
				s.g[i].after = got
				s.goes(i, gPublish)
			}
		}
	case at == m.workers:
		s.goes(i, none)
	default:
		s.g[i].at++
	}
}

// next calls f with each state that one step leads to.
func (m *model) next(s mstate, f func(mstate)) {
	if s.told < m.outside || s.wakes { // with the fault it has woken before
		n := s
		switch {
		case s.wakes != m.is("sender: wakes before it pushes"):
			n.wakes = !s.wakes
			n.wake(m)
		default:
			n.wakes = !s.wakes
			n.job[s.told] = atInject
			n.told++
		}
		f(n)
	}
	m.dog(s, f)
	for i := range s.g {
		g := s.g[i]
		n := s
		at := func(pc int8) func() { return func() { n.goes(i, pc) } }
		second := func(after int8) func() {
			return func() { n.g[i].after = after; n.goes(i, gSecond) }
		}
		switch g.pc {
		case gNone:
			continue
		case gGrab:
			n.grab(m, i, false, gStop, gResign)
			f(n)
			n = s
			n.grab(m, i, true, gStop, gResign)
		case gPublish:
			for k := range n.job {
				if n.job[k] == int8(inHands+i) {
					n.job[k] = int8(mine + i)
				}
			}
			n.goes(i, g.after)
		case gStop:
			n.goes(i, gRun)
			if !m.is("look: counts as searching in its job") {
				if n.searching--; n.searching == 0 && !m.is("look: does not see what is left") {
					n.goes(i, gLeft)
				}
			}
		case gLeft:
			n.sees(m, i, second(gRun), at(gRun))
		case gSecond:
			if n.searching > 0 || n.standby {
				n.goes(i, g.after)
			} else {
				n.goes(i, gStandBy)
			}
		case gStandBy:
			if !n.standby && n.launch(m, gAwait, "standBy: full, not armed") {
				n.standby = true
			}
			n.goes(i, g.after)
		case gRun:
			switch j := g.job; m.does[j] {
			case jTells:
				if !s.once[j] {
					n.once[j] = true
					n.job[j+1] = int8(mine + mWorkers + i)
					n.armed = n.armed || !m.is("schedule: next, not armed")
				}
				n.goes(i, gWaits)
			case jWaits, jWaitsBack:
				n.goes(i, gWaits)
			case jYields:
				if !s.once[j] {
					some, pays := n.waits(i)
					n.once[j] = true
					n.job[j] = int8(mine + i)
					n.goes(i, gTake)
					if some && pays {
						second(gTake)()
					} else if some {
						n.armed = true
					}
					break
				}
				fallthrough
			default:
				n.job[j] = atDone
				n.goes(i, gTake)
			}
		case gWaits:
			if s.job[m.awaits(g.job)] != atDone {
				continue
			}
			n.job[g.job] = atDone
			if n.goes(i, gTake); m.is("look: counts as searching in its job") && n.searching > 0 {
				n.searching--
			}
		case gTake:
			n.stuck[i] = false
			if j := n.first(atInject); j >= 0 { // poll
				p := n
				some, pays := p.waits(i)
				p.begin(i, j, gRun)
				if some && !m.is("poll: leaves its own, not looked after") {
					if pays {
						p.g[i].after = gRun
						p.goes(i, gSecond)
					} else {
						p.armed = true
					}
				}
				f(p)
			}
			if !n.short[i] { // what turns take becomes known
				p := n
				p.short[i] = true
				f(p)
			}
			if j := n.first(int8(mine + i)); j >= 0 {
				n.begin(i, j, gRun)
			} else if j := n.first(int8(mine + mWorkers + i)); j >= 0 {
				n.begin(i, j, gRun)
			} else {
				n.goes(i, gFind)
			}
		case gFind:
			if g.at == 0 && !s.queued() { // as in a crowd
				p := n
				p.goes(i, gPark)
				f(p)
			}
			n.grab(m, i, false, gFound, gSearch)
			f(n)
			n = s
			n.grab(m, i, true, gFound, gSearch)
		case gFound:
			some, _ := n.waits(i)
			if n.searching == 0 && (some || n.queued()) && !m.is("find: does not see what is left") {
				second(gRun)()
			} else {
				n.goes(i, gRun)
			}
		case gSearch:
			if n.searching > 0 {
				n.goes(i, gPark)
			} else {
				n.searching++
				n.goes(i, gGrab)
			}
		case gResign:
			if !m.is("resign: does not lower the count") {
				n.searching--
			}
			if n.goes(i, gAgain); m.is("resign: does not look again") {
				n.goes(i, gNone)
			}
		case gAgain:
			n.sees(m, i, func() { n.searching++; n.goes(i, gGrab) }, at(gPark))
		case gPark:
			n.sees(m, i, second(gNone), at(gNone))
		case gAwait: // not needed as long as it sees something; needed: Go decides
			if g.at == 0 {
				p := n
				p.goes(i, gNeeded)
				f(p)
			}
			n.sees(m, i, at(gAwait), func() {
				n.standby = m.is("standDown: does not lower the flag")
				n.goes(i, gDown)
			})
		case gNeeded:
			n.searching++
			n.goes(i, gTakes)
		case gTakes:
			n.standby = false
			n.goes(i, gGrab)
		case gDown:
			if m.is("standDown: does not look again") {
				n.goes(i, gNone)
				break
			}
			n.sees(m, i, func() {
				if n.standby {
					n.goes(i, gNone)
				} else {
					n.standby = true
					n.goes(i, gAwait)
				}
			}, at(gNone))
		}
		f(n)
	}
}

// awaits returns the job for which j waits.
func (m *model) awaits(j int8) int8 {
	if m.does[j] == jWaitsBack {
		return j - 1
	}
	return j + 1
}

// dog is a step of the watchdog. It fires when it likes, if it is armed.
func (m *model) dog(s mstate, f func(mstate)) {
	waits := s.queued()
	for w := range s.g {
		some, _ := s.waits(w)
		waits = waits || some
	}
	switch {
	case s.dog == 1:
		if s.dog = 0; !m.is("watch: does not wake") {
			s.wake(m)
		}
	case s.dog == 3: // it has seen nothing, and something may have become visible meanwhile
		s.armed, s.dog = false, 2
	case s.dog == 2:
		s.dog = 0
		s.armed = s.armed || waits && !m.is("watch: does not look again")
	case !s.armed:
		return
	case waits:
		s.dog = 1
		for w, g := range s.g {
			if (g.pc == gWaits || g.pc == gRun) && !m.is("watch: does not mark") {
				s.stuck[w] = true
			}
		}
	default:
		s.dog = 3
	}
	f(s)
}

// looked says that some goroutine is going to take a visible job: a searcher that can run, a
// worker that looks before it parks, an armed watchdog, or a sender that is about to wake one.
func (s *mstate) looked() bool {
	cared := s.searching > 0 || s.standby || s.armed || s.dog != 0 || s.wakes
	waits := s.queued()
	for i, g := range s.g {
		if some, _ := s.waits(i); some && g.pc != gTake {
			waits = true
		}
		// Between two of these steps it comes to its own, and looks at the others'.
		cared = cared || g.pc != gNone && g.pc != gRun && g.pc != gWaits && g.pc != gTake
	}
	return cared || !waits
}

func (s *mstate) done() bool {
	for _, at := range s.job {
		if at != atDone && at != atNone {
			return false
		}
	}
	return true
}

// explore returns how many states there are, and one from which the program cannot end, with the
// steps to it, or nil; or one at which a job is visible and no worker is going to take it.
func (m *model) explore(start mstate) (states int, stuck []mstate) {
	index := map[mstate]int{start: 0}
	all := []mstate{start}
	parent := []int{-1}
	back := [][]int{nil}
	for i := 0; i < len(all); i++ {
		if m.fault == "" && !all[i].looked() {
			return len(all), []mstate{all[i]}
		}
		m.next(all[i], func(n mstate) {
			j, ok := index[n]
			if !ok {
				j = len(all)
				index[n] = j
				all, parent, back = append(all, n), append(parent, i), append(back, nil)
			}
			back[j] = append(back[j], i)
		})
	}
	ends := make([]bool, len(all))
	var todo []int
	for i := range all {
		if all[i].told == m.outside && !all[i].wakes && all[i].done() {
			ends[i], todo = true, append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range back[i] {
			if !ends[j] {
				ends[j], todo = true, append(todo, j)
			}
		}
	}
	i := slices.Index(ends, false)
	if i < 0 {
		return len(all), nil
	}
	for ; i >= 0; i = parent[i] {
		stuck = append([]mstate{all[i]}, stuck...)
	}
	return len(all), stuck
}

// programs are those that the model is explored with, and night those of millions of states. Of what
// waits at most one less than the workers waits at a time.
var programs, night = []model{
	{does: [mJobs]int{jWaits, jEnds}, outside: 2, workers: 2, warm: true},
	{does: [mJobs]int{jWaits, jEnds}, outside: 2, workers: 2},
	{does: [mJobs]int{jYields, jWaitsBack}, outside: 2, workers: 2, warm: true},
	{does: [mJobs]int{jTells, jEnds}, outside: 1, workers: 2, warm: true},
	{does: [mJobs]int{jWaits, jEnds, jEnds}, outside: 3, workers: 2, warm: true},
	{does: [mJobs]int{jTells, jTells, jEnds}, outside: 1, workers: 3, warm: true},
}, []model{
	{does: [mJobs]int{jYields, jWaitsBack}, outside: 2, workers: 3},
	{does: [mJobs]int{jTells, jTells, jYields}, outside: 1, workers: 3},
	{does: [mJobs]int{jWaits, jWaits, jEnds}, outside: 3, workers: 3, warm: true},
	{does: [mJobs]int{jWaits, jEnds, jWaits, jEnds}, outside: 4, workers: 3, warm: true},
}

// start returns the state of an idle pool.
func (m *model) start() (s mstate) {
	for i := range s.short {
		s.short[i] = m.warm
		s.goes(i, gNone)
	}
	return s
}

// runModel explores programs, and returns how many states that were and the first way to a stuck one.
func runModel(all []model, fault string) (states int, stuck []mstate) {
	for _, m := range all {
		m.fault = fault
		n, way := m.explore(m.start())
		if states += n; way != nil {
			return states, way
		}
	}
	return states, nil
}

// In every interleaving of every program each job is reached.
func TestLiveness(t *testing.T) {
	all := programs
	if os.Getenv("DYNO_NIGHTLY") != "" {
		all = slices.Concat(programs, night)
	}
	n, stuck := runModel(all, "")
	for _, s := range stuck {
		t.Logf("%+v", s)
	}
	if stuck != nil {
		t.Error("a job is left behind")
	}
	t.Logf("%d states", n)
}

// Each part of the protocol that is left out leaves a job behind in some interleaving. The first is
// the fault that users met.
func TestLivenessFindsFaults(t *testing.T) {
	faults := []string{
		"visible: what does not pay is not armed for",
		"visible: does not look into the inject queue",
		"look: does not see what is left",
		"look: counts as searching in its job",
		"resign: does not look again",
		"resign: does not lower the count",
		"schedule: next, not armed",
		"sender: wakes before it pushes",
		"wake: full, not armed",
		"watch: does not wake",
		"watch: does not look again",
		"watch: does not mark",
	}
	all := programs
	if os.Getenv("DYNO_NIGHTLY") != "" { // in programs of a million states
		all = slices.Concat(programs, night)
		faults = append(faults, "standDown: does not look again", "standDown: does not lower the flag", "standBy: full, not armed")
	}
	for _, fault := range faults {
		n, stuck := runModel(all, fault)
		t.Logf("%s: %d states, %d steps", fault, n, len(stuck))
		if stuck == nil {
			t.Errorf("%s: not found", fault)
		}
	}
}
