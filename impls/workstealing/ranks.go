package workstealing

import "github.com/dynolab/dyno/actor"

// kept is how often a worker looks beyond the order of priorities: every 16th
// of its turns goes to who would be last otherwise, by turns the normal and the
// low priority.
const kept = 16

// ranks is the queue of ready actors of the strategy Priority: an entrance for
// each priority, the most urgent first.
type ranks [3]entrance

func (q *ranks) push(b *box) { q[rank(b.cell.Priority())].push(b) }

// rank is the index of a priority.
func rank(p actor.Priority) int { return int(actor.High - p) }

// pop takes the actor that is to run on a worker that has had turns turns.
func (q *ranks) pop(turns uint32) *box {
	if turns%kept == 0 {
		first := 1 + turns/kept%2 // the index of the normal priority is 1, of the low one 2
		for _, i := range [2]uint32{first, 3 - first} {
			if b := q[i].pop(); b != nil {
				return b
			}
		}
		return q[0].pop()
	}
	for i := range q {
		if b := q[i].pop(); b != nil {
			return b
		}
	}
	return nil
}

func (q *ranks) empty() bool { return q[0].empty() && q[1].empty() && q[2].empty() }
