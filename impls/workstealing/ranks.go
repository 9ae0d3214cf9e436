package workstealing

import "github.com/dynolab/dyno/actor"

// kept is how often a worker looks beyond the order of priorities: every 16th, or sooner, of
// its turns goes to who would be last otherwise, by turns the normal and the low priority.
const kept = 16

// ranks is the queue of ready actors of the strategy Priority: an inject queue for
// each priority, the most urgent first. What is no actor has the normal one.
type ranks [3]inject

func (q *ranks) init() {
	for i := range q {
		q[i].init()
	}
}

func (q *ranks) push(b *box) { q[rank(b.cell.Priority())].push(job{r: b}) }

// rank is the index of a priority.
func rank(p actor.Priority) int { return int(actor.High - p) }

// pop takes the job that is to run on a worker in the turn of this number, or none.
func (q *ranks) pop(turns uint32) (j job) {
	if turns%kept == 0 {
		first := 1 + turns/kept%2 // the index of the normal priority is 1, of the low one 2
		for _, i := range [3]uint32{first, 3 - first, 0} {
			if j = q[i].pop(); !j.none() {
				break
			}
		}
		return j
	}
	for i := range q {
		if j = q[i].pop(); !j.none() {
			break
		}
	}
	return j
}

func (q *ranks) empty() bool { return q[0].empty() && q[1].empty() && q[2].empty() }
