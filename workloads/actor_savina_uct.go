package workloads

import (
	"errors"
	"strconv"
)

const (
	uctNodes    = 2000
	uctChildren = 10 // of a node that has any
	uctOdds     = 9  // one in so many has, so that the tree is about to end all the time
	uctWork     = 50 // rounds of the filler function of a node, 10 more or less
)

// savinaUCT is a walk through an unbalanced tree of actors, each of which does its own work and
// passes the walk on to its children. Nodes are there before the clock starts, and none is urgent.
func savinaUCT() []Workload {
	return savina(Workload{
		Name:     "uct",
		Doc:      "after Savina: a walk through an unbalanced tree of 2,000 actors, which tell their parents what they found: work that comes in bursts",
		Op:       "a node that is visited, with its answer",
		Messages: 2,
		Slicing:  Slicing{Unit: uctNodes},
		Checked:  "each node is visited once by its parent, and answers once; what all of them found",
	}, func(s *progress) savinaProgram[*visit] { return newUCT(s) })
}

// A visit is the message of a node: to it, and with the answer back to its parent.
type visit struct {
	home  int // the node
	nodes int // visited below it, and itself
	sum   uint64
	back  bool
}

type uctNode struct {
	visit    visit
	parent   int
	children []int // in the order in which they are visited
	work     uint32

	// Of this walk.
	open int // children that have not answered
	_    [64]byte
}

// uct is a tree whose node 0 is the root. Its nodes are numbered so that the first ones are a
// tree, too.
type uct struct {
	*progress
	nodes []uctNode
	walks int // through the whole tree, in this Do
	odd   int // nodes of the last walk, if it is not through the whole
	first int // nodes of this walk

	upTo  [uctNodes + 1]uint64 // what so many first nodes find
	asked uctSum
	found uctSum // the root's
}

// A uctSum is what walks found.
type uctSum struct {
	nodes int
	sum   uint64
}

func newUCT(s *progress) *uct {
	u := &uct{progress: s, nodes: make([]uctNode, uctNodes)}
	rnd := splitMix(uctNodes)
	for i, known := 0, 1; i < uctNodes; i++ {
		n := &u.nodes[i]
		n.visit.home = i
		n.work = uint32(uctWork - 10 + rnd.below(21))
		u.upTo[i+1] = u.upTo[i] + u.own(i)
		if rnd.below(uctOdds) > 0 && known > i+1 {
			continue
		}
		for ; len(n.children) < uctChildren && known < uctNodes; known++ {
			u.nodes[known].parent = i
			n.children = append(n.children, known)
		}
	}
	return u
}

func (u *uct) size() int { return uctNodes }

func (u *uct) deal(n int) {
	u.begin(n, 1)
	u.walks, u.odd = n/uctNodes, n%uctNodes
}

func (u *uct) start(send func(to int, v *visit) error) error { return send(0, u.walk()) }

// walk begins the next walk of this Do and returns the message to the root. Nil is none.
func (u *uct) walk() *visit {
	switch {
	case u.walks > 0:
		u.walks--
		u.first = uctNodes
	case u.odd > 0:
		u.first, u.odd = u.odd, 0
	default:
		return nil
	}
	u.asked.nodes += u.first
	u.asked.sum += u.upTo[u.first]
	root := &u.nodes[0].visit
	root.back = false
	return root
}

// own is what a node finds by itself.
func (u *uct) own(at int) uint64 { return uint64(fill(uint32(at), u.nodes[at].work)) }

func (u *uct) handle(at int, v *visit, send carrier[*visit]) error {
	n := &u.nodes[at]
	switch {
	case v.home == at && !v.back && n.open == 0:
		n.visit.nodes, n.visit.sum = 1, u.own(at)
		for _, c := range n.children {
			if c >= u.first {
				break
			}
			child := &u.nodes[c].visit
			child.back = false
			n.open++
			send(c, child)
		}
	case v.back && v.home > 0 && u.nodes[v.home].parent == at && n.open > 0:
		v.back = false
		n.open--
		n.visit.nodes += v.nodes
		n.visit.sum += v.sum
	default:
		return errors.New("workloads: a node was visited or answered twice, or another one was")
	}
	if n.open > 0 {
		return nil
	}
	n.visit.back = true
	if at > 0 {
		send(n.parent, &n.visit)
		return nil
	}
	u.found.nodes += n.visit.nodes
	u.found.sum += n.visit.sum
	if next := u.walk(); next != nil {
		send(0, next)
	} else {
		u.part()
	}
	return nil
}

func (u *uct) check() error {
	if u.found != u.asked {
		return errors.New("workloads: " + strconv.Itoa(u.found.nodes) + " nodes were visited instead of " + strconv.Itoa(u.asked.nodes) + ", or others")
	}
	return nil
}
