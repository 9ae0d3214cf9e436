package workloads

import (
	"errors"
	"math"
	"strconv"
)

const (
	astarWorkers  = 20
	astarSide     = 30 // nodes of an edge of the grid
	astarNodes    = astarSide * astarSide * astarSide
	astarWeight   = 10 // a way between neighbours costs as much at most, and 1 at least
	astarWork     = 10 // rounds of the filler function to find that out
	astarProblems = 8  // pairs of nodes, one after the other and again
	astarBuckets  = 4 * astarWeight * 3 * astarSide
)

// savinaAStar is the search for a shortest way with a heuristic. The master has the nodes that are
// to be expanded, the most promising first, and hands them out to workers, which find out where
// one can go from there and what it costs. How many nodes that are depends on who is quicker, and
// so an operation is one of them, and not a problem. The queue is the master's: Savina's workers
// search by themselves up to a threshold, so that the scheduler decides how much is searched.
func savinaAStar() []Workload {
	return savina(Workload{
		Name:     "astar",
		Doc:      "after Savina: a master hands the nodes of a grid out to 20 workers, the most promising first, until the shortest way is found: a queue by priority",
		Op:       "a node that is expanded, of two messages",
		Messages: 2,
		Checked:  "each node that is handed out comes back once, from its worker; the cost of each way, by Dijkstra's algorithm",
	}, func(s *progress) savinaProgram[*expansion] { return newAStar(s) })
}

// An expansion is the message to a worker and back.
type expansion struct {
	home   int // its worker
	atWork bool
	node   int32
	cost   int32       // of the way to the node
	ways   [6]astarWay // to neighbours
	n      int         // of them
	done   int         // expansions of the worker
}

type astarWay struct {
	to   int32
	cost int32
}

// astar is node 0, the master; worker i is node 1+i.
type astar struct {
	rota // the master alone
	all  [astarWorkers]expansion

	// The master's.
	left    int // nodes to hand out in this Do
	out     int // nodes handed out
	idle    []*expansion
	problem int // how many were before
	goal    int32
	best    int32                 // cost of the best way to the goal so far
	costs   [astarNodes]int32     // of the best way to each node so far
	open    [astarBuckets][]int32 // nodes by the least that a way through them costs
	least   int                   // no bucket before has any
	found   [astarProblems]int32  // cost of each problem's way; 0 is none yet
}

func newAStar(s *progress) *astar {
	a := new(astar)
	a.rota = newRota(s, 1, func(_, ops int) { a.left = ops })
	for i := range a.all {
		a.all[i].home = i
		a.idle = append(a.idle, &a.all[i])
	}
	a.pose()
	return a
}

func (a *astar) size() int { return 1 + astarWorkers }

func (a *astar) start(send func(to int, e *expansion) error) error { return send(0, nil) }

// astarProblem returns where a way begins and where it ends.
func astarProblem(i int) (from, to int32) {
	rnd := splitMix(i)
	from = int32(rnd.below(astarNodes))
	to = int32(rnd.below(astarNodes - 1))
	if to >= from {
		to++
	}
	return from, to
}

// pose begins the next problem.
func (a *astar) pose() {
	from, to := astarProblem(a.problem % astarProblems)
	a.goal, a.best = to, math.MaxInt32
	for i := range a.costs {
		a.costs[i] = math.MaxInt32
	}
	for i := range a.open {
		a.open[i] = a.open[i][:0]
	}
	a.least = len(a.open)
	a.improve(from, 0)
}

// improve books that a node can be reached at a cost, if no cheaper way to it is known.
func (a *astar) improve(node, cost int32) {
	if cost >= a.costs[node] {
		return
	}
	a.costs[node] = cost
	if node == a.goal {
		a.best = cost
		return
	}
	through := int(cost) + atLeast(node, a.goal)
	a.open[through] = append(a.open[through], node)
	a.least = min(a.least, through)
}

// promising returns the open node through which a way to the goal may be the cheapest. There is
// none if no way could be cheaper than the best one.
func (a *astar) promising() (node int32, ok bool) {
	for ; a.least < min(len(a.open), int(a.best)); a.least++ {
		bucket := &a.open[a.least]
		for n := len(*bucket); n > 0; n-- {
			node = (*bucket)[n-1]
			*bucket = (*bucket)[:n-1]
			if int(a.costs[node])+atLeast(node, a.goal) == a.least {
				return node, true
			} // or a cheaper way to it was found meanwhile
		}
	}
	return 0, false
}

func (a *astar) handle(at int, e *expansion, send carrier[*expansion]) error {
	switch {
	case e == nil:
		if err := a.told(at); err != nil {
			return err
		}
	case at == e.home+1 && e.atWork:
		e.atWork = false
		e.done++
		e.n = waysFrom(e.node, &e.ways)
		send(0, e)
		return nil
	case at == 0 && !e.atWork && e.n > 0:
		for _, w := range e.ways[:e.n] {
			a.improve(w.to, e.cost+w.cost)
		}
		e.n = 0
		a.out--
		a.idle = append(a.idle, e)
	default:
		return errors.New("workloads: a node was expanded twice, or by another worker")
	}
	return a.handOut(send)
}

// handOut hands out nodes as long as there are workers.
func (a *astar) handOut(send carrier[*expansion]) error {
	for a.left > 0 && len(a.idle) > 0 {
		node, ok := a.promising()
		switch {
		case ok:
			e := shift(&a.idle)
			e.node, e.cost, e.atWork = node, a.costs[node], true
			a.left--
			a.out++
			send(e.home+1, e)
		case a.out > 0:
			return nil // what comes back may be better
		default:
			i := a.problem % astarProblems
			if a.found[i] != 0 && a.found[i] != a.best {
				return errors.New("workloads: of the same two nodes another distance was found than before")
			}
			a.found[i] = a.best
			a.problem++
			a.pose()
		}
	}
	if a.left == 0 && a.out == 0 {
		a.part()
	}
	return nil
}

// check finds the distances by Dijkstra's algorithm.
func (a *astar) check() error {
	done := 0
	for i := range a.all {
		done += a.all[i].done
	}
	if err := countCheck(int64(a.asked[0]), int64(done)); err != nil {
		return err
	}
	for i, cost := range a.found {
		from, to := astarProblem(i)
		if cost != 0 && cost != astarDistance(from, to) {
			return errors.New("workloads: the way of problem " + strconv.Itoa(i) + " costs " + strconv.Itoa(int(cost)) + ", and there is another")
		}
	}
	return nil
}

// astarDistance returns what the cheapest way costs, by Dijkstra's algorithm.
func astarDistance(from, to int32) int32 {
	costs := make([]int32, astarNodes)
	for i := range costs {
		costs[i] = math.MaxInt32
	}
	costs[from] = 0
	ring := make([][]int32, astarWeight+1) // nodes by cost
	ring[0] = []int32{from}
	var ways [6]astarWay
	for cost := int32(0); ; cost++ {
		bucket := &ring[cost%int32(len(ring))]
		for _, node := range *bucket {
			if costs[node] != cost {
				continue
			}
			if node == to {
				return cost
			}
			for _, w := range ways[:waysFrom(node, &ways)] {
				if next := cost + w.cost; next < costs[w.to] {
					costs[w.to] = next
					r := &ring[next%int32(len(ring))]
					*r = append(*r, w.to)
				}
			}
		}
		*bucket = (*bucket)[:0]
	}
}

// waysFrom writes down the ways from a node to its neighbours, and returns how many there are.
func waysFrom(node int32, ways *[6]astarWay) (n int) {
	step := int32(1)
	for range 3 {
		at := node / step % astarSide
		if at > 0 {
			ways[n] = astarWay{node - step, wayCost(node-step, step)}
			n++
		}
		if at < astarSide-1 {
			ways[n] = astarWay{node + step, wayCost(node, step)}
			n++
		}
		step *= astarSide
	}
	return n
}

// wayCost is what the way from a node to the one a step further costs.
func wayCost(node, step int32) int32 {
	return 1 + int32(fill(uint32(node*4+step%7), astarWork)%astarWeight)
}

// atLeast is what a way between two nodes costs at least.
func atLeast(a, b int32) (sum int) {
	for range 3 {
		d := int(a%astarSide - b%astarSide)
		sum += max(d, -d)
		a /= astarSide
		b /= astarSide
	}
	return sum
}
