package workloads

import (
	"errors"
	"strconv"
)

const philosophers = 20

// savinaPhilosopher is the dining philosophers with an arbiter. Whom it cannot let eat it
// lets wait in a queue; Savina's denies the forks, and the philosopher asks again at once, so
// that how many messages there are depends on the scheduler.
func savinaPhilosopher() []Workload {
	return savina(Workload{
		Name:     "philosopher",
		Doc:      "after Savina: 20 philosophers ask an arbiter for their two forks, eat and give them back: one actor that all others wait for",
		Op:       "a meal, of three messages",
		Messages: 3,
		Checked:  "no neighbours eat at once; each philosopher eats when it is hungry, and as often as it should",
	}, func(s *progress) savinaProgram[*philosopher] { return newDinner(s) })
}

// What a philosopher is doing: who has the message may write it.
const (
	thinking = iota
	hungry
	eating
	full // gives its forks back
)

// A philosopher is a node, and the message that it and the arbiter send each other.
type philosopher struct {
	home  int // the philosopher's number
	state int
	meals int // to have in this Do
	eaten int // in all
	_     [32]byte
}

// dinner is the arbiter's, node 0; philosopher i is node i+1.
type dinner struct {
	rota // the philosophers
	all  [philosophers]philosopher

	// The arbiter's.
	forks   [philosophers]bool // taken: i lies to the left of philosopher i
	waiting []*philosopher     // in the order in which they asked
	served  int                // meals in all
}

func newDinner(s *progress) *dinner {
	d := new(dinner)
	d.rota = newRota(s, philosophers, func(at, ops int) { d.all[at].meals = ops })
	for i := range d.all {
		d.all[i].home = i
	}
	return d
}

func (d *dinner) size() int { return philosophers + 1 }

func (d *dinner) start(send func(to int, p *philosopher) error) error {
	return d.each(func(at int) error {
		p := &d.all[at]
		p.state = hungry
		return send(0, p)
	})
}

func (d *dinner) handle(at int, p *philosopher, send carrier[*philosopher]) error {
	switch {
	case at == 0 && p.state == hungry:
		if !d.serve(p, send) {
			d.waiting = append(d.waiting, p)
		}
	case at == 0 && p.state == full:
		return d.clear(p, send)
	case at == p.home+1 && p.state == eating && p.meals > 0:
		p.eaten++
		p.meals--
		p.state = full
		send(0, p)
	default:
		return errors.New("workloads: a message came twice, or to another philosopher")
	}
	return nil
}

// take takes or gives back both forks of p. It reports whether they were as they had to be.
func (d *dinner) take(p *philosopher, taken bool) bool {
	left, right := &d.forks[p.home], &d.forks[(p.home+1)%philosophers]
	if *left == taken || *right == taken {
		return false
	}
	*left, *right = taken, taken
	return true
}

// serve lets p eat if its forks are there.
func (d *dinner) serve(p *philosopher, send carrier[*philosopher]) bool {
	if !d.take(p, true) {
		return false
	}
	p.state = eating
	send(p.home+1, p)
	return true
}

// clear takes the forks of p back, has it hungry again if it has meals left, and lets those eat
// that waited for them.
func (d *dinner) clear(p *philosopher, send carrier[*philosopher]) error {
	if !d.take(p, false) {
		return errors.New("workloads: a philosopher has eaten without its forks")
	}
	d.served++
	last := p.meals == 0
	p.state = thinking
	if !last {
		p.state = hungry
		d.waiting = append(d.waiting, p)
	}
	still := d.waiting[:0]
	for _, w := range d.waiting {
		if !d.serve(w, send) {
			still = append(still, w)
		}
	}
	clear(d.waiting[len(still):])
	d.waiting = still
	if last {
		d.part()
	}
	return nil
}

func (d *dinner) check() error {
	sum := 0
	for i := range d.all {
		p := &d.all[i]
		if p.eaten != d.asked[i] || p.state != thinking || d.forks[i] {
			return errors.New("workloads: philosopher " + strconv.Itoa(i) + " has eaten " + strconv.Itoa(p.eaten) + " times instead of " + strconv.Itoa(d.asked[i]))
		}
		sum += p.eaten
	}
	if sum != d.served || len(d.waiting) > 0 {
		return errors.New("workloads: the arbiter has served " + strconv.Itoa(d.served) + " meals, and " + strconv.Itoa(sum) + " were eaten")
	}
	return nil
}
