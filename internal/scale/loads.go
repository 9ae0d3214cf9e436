package scale

import "math/rand/v2"

// pairs is actors that send a message back and forth by twos, all at once, each pair with a
// worker's run-next slot to itself for a stretch of turns. They begin on one worker.
type pairs struct {
	count, stretches int     // pairs, and stretches of each
	hop              float64 // ns
	left             int
}

// stretch is how many turns in a row a worker gives to what is next.
const stretch = 64

func (l *pairs) begin(s *sim) {
	l.left = l.count * l.stretches
	w := &s.workers[0]
	for i := range l.count {
		w.queue = append(w.queue, job{cost: stretch * l.hop, turn: l.hop, arg: i})
	}
	s.show(w)
	s.wake(w)
}

func (l *pairs) ran(s *sim, w *worker, j job) {
	if l.left--; l.left == 0 {
		s.over = true
	}
	if l.left >= l.count {
		s.push(w, j)
	}
}

func (l *pairs) ops() int { return l.count * l.stretches * stretch }

// fib is a call that forks the two that it needs, and waits for them, down to the smallest.
type fib struct {
	n     int
	call  float64 // ns
	nodes []fibNode
}

// A fibNode is a call in progress.
type fibNode struct {
	n, parent, left int
	word            line // of the future, which who ends a call writes
}

func (l *fib) begin(s *sim) {
	l.nodes = append(l.nodes[:0], fibNode{n: l.n, parent: -1})
	w := &s.workers[0]
	w.queue = append(w.queue, job{cost: l.call, fork: true})
	s.show(w)
	s.wake(w)
}

func (l *fib) ran(s *sim, w *worker, j job) {
	if n := l.nodes[j.arg].n; n >= 2 {
		l.nodes[j.arg].left = 2
		for _, m := range []int{n - 1, n - 2} {
			l.nodes = append(l.nodes, fibNode{n: m, parent: j.arg, word: line{part: Objects, owner: w.id}})
			s.push(w, job{cost: l.call, fork: true, arg: len(l.nodes) - 1})
		}
		return
	}
	for at := j.arg; ; { // the call is over, and with it each that waited for nothing else
		s.write(w, &l.nodes[at].word)
		if at = l.nodes[at].parent; at < 0 {
			s.over = true
			return
		}
		if l.nodes[at].left--; l.nodes[at].left > 0 {
			return
		}
	}
}

func (l *fib) ops() int {
	a, b := 1, 1 // calls of 0 and 1
	for range l.n - 1 {
		a, b = b, 1+a+b
	}
	return b
}

// outside is jobs that come through the inject queue: half of the processors, one at least,
// produce them, and run them as the others do when they have produced all.
type outside struct {
	jobs, most         int       // and how many producers at most, or 0
	produce            float64   // ns
	cost               []float64 // ns of jobs, again and again
	submitted, handled int
}

func (l *outside) begin(s *sim) {
	l.submitted, l.handled = 0, 0
	producers := max(1, len(s.workers)/2)
	if l.most > 0 {
		producers = min(producers, l.most)
	}
	for i := range producers {
		w := &s.workers[i]
		left := l.jobs / producers
		if i < l.jobs%producers {
			left++
		}
		w.produce = func(w *worker) bool {
			if left == 0 {
				return false
			}
			left--
			s.work(w, l.produce)
			s.submit(w, job{cost: l.cost[l.submitted%len(l.cost)]})
			l.submitted++
			return true
		}
		if i > 0 {
			s.at(w, 0)
		}
	}
	s.idle = s.idle[producers-1:]
}

func (l *outside) ran(s *sim, _ *worker, _ job) {
	if l.handled++; l.handled == l.jobs {
		s.over = true
	}
}

func (l *outside) ops() int { return l.jobs }

// uneven returns costs of jobs with a heavy tail and the given mean: those of a Pareto
// distribution with shape 1 whose largest is 64 times the smallest, as in the workload.
func uneven(mean float64) []float64 {
	const n, spread = 1024, 64
	costs, sum := make([]float64, n), 0.0
	for i := range costs {
		p := (float64(i) + 0.5) / n
		costs[i] = 1 / (1 - p*(1-1.0/spread))
		sum += costs[i]
	}
	for i := range costs {
		costs[i] *= mean * n / sum
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { costs[i], costs[j] = costs[j], costs[i] })
	return costs
}

// fanin is actors that send to a single one. A turn of a sender sends a stretch of messages; the
// receiver's takes all that have come.
type fanin struct {
	senders, messages int
	cost              float64 // ns to send a message, and to receive one
	mailbox           line
	sent, waiting     int
	scheduled         bool
	received          int
}

// window is how many messages of a sender may be under way.
const window = 1024

func (l *fanin) begin(s *sim) {
	l.mailbox = line{part: Objects}
	l.sent, l.waiting, l.received, l.scheduled = 0, 0, 0, false
	w := &s.workers[0]
	for i := range l.senders {
		w.queue = append(w.queue, job{cost: l.cost, turn: stretch * l.cost, arg: i})
	}
	s.show(w)
	s.wake(w)
}

func (l *fanin) ran(s *sim, w *worker, j job) {
	if j.arg < 0 { // the receiver has handled so many
		if l.received -= j.arg; l.received >= l.messages {
			s.over = true
			return
		}
		l.scheduled = false
		l.schedule(s, w)
		return
	}
	if l.sent >= l.messages {
		return
	}
	if l.sent-l.received < window*l.senders { // else it waits to hear of the receiver
		s.write(w, &l.mailbox)
		l.sent++
		l.waiting++
		l.schedule(s, w)
	}
	w.queue = append(w.queue, j)
}

// schedule makes the receiver ready, if it has something and is not.
func (l *fanin) schedule(s *sim, w *worker) {
	if l.scheduled || l.waiting == 0 {
		return
	}
	l.scheduled = true
	s.write(w, &l.mailbox)
	n := min(l.waiting, 300) // a turn's throughput
	l.waiting -= n
	s.push(w, job{cost: float64(n) * l.cost, turn: float64(n) * l.cost, arg: -n})
}

func (l *fanin) ops() int { return l.messages }
