package workloads

import (
	"errors"
	"strconv"
)

const (
	barberCustomers = 64
	barberCut       = 50 // rounds of the filler function that a haircut takes
)

// savinaBarber is three parties, each of which waits for another: customers come to a waiting
// room, which wakes the barber and sends them to him in the order in which they came, and he
// tells the room that he is done. There is a chair for each: Savina's room refuses customers, who
// come again at once.
func savinaBarber() []Workload {
	return savina(Workload{
		Name:     "barber",
		Doc:      "after Savina: 64 customers come to a waiting room, which sends them to a sleeping barber one by one: a protocol of three parties",
		Op:       "a haircut, of four messages",
		Messages: 4,
		Checked:  "the barber has one customer at a time, in the order in which they came; each has as many haircuts as it should, and the hair that they leave",
	}, func(s *progress) savinaProgram[*haircut] { return newBarber(s) })
}

// A haircut is the message: of a customer to the room, on to the barber, and back; or, without a
// customer, of the barber to the room.
type haircut struct {
	from  int // who has sent it
	who   int // the customer; barberCustomers is none
	step  int8
	visit int    // which the room had counted when the customer came
	hair  uint32 // cut by the barber
}

// What a haircut's message says by its step.
const (
	isThere  = iota // to the room: who has come in
	isNext          // to the barber: cut who's hair
	isCut           // to the customer: done
	isAtDoor        // who is not on the way
)

const barberIsFree = isThere // a haircut without a customer, to the room

// The nodes behind the customers.
const (
	barberRoom = barberCustomers + iota
	barberChair
	barberNodes
)

type barberCustomer struct {
	left, had int // haircuts of this Do, and in all
	_         [48]byte
}

type barber struct {
	rota      // the customers
	visits    [barberCustomers]haircut
	customers [barberCustomers]barberCustomer
	free      haircut

	// The room's.
	waiting []*haircut
	awake   bool // the barber
	came    int
	due     int // haircuts of this Do that the barber has not told of

	// The barber's.
	served int
}

func newBarber(s *progress) *barber {
	b := new(barber)
	b.rota = newRota(s, barberCustomers, func(at, ops int) { b.customers[at].left = ops })
	for i := range b.visits {
		b.visits[i] = haircut{from: i, who: i, step: isAtDoor, hair: fill(uint32(i), 2)}
	}
	b.free = haircut{from: barberChair, who: barberCustomers, step: isAtDoor}
	return b
}

func (b *barber) size() int { return barberNodes }

func (b *barber) deal(n int) {
	b.rota.deal(n)
	b.parts.Add(1) // the barber's last word to the room
	b.due = n
}

func (b *barber) start(send func(to int, h *haircut) error) error {
	return b.each(func(at int) error {
		b.visits[at].step = isThere
		return send(barberRoom, &b.visits[at])
	})
}

func (b *barber) handle(at int, h *haircut, send carrier[*haircut]) error {
	from, step := h.from, h.step
	h.from = at
	switch {
	case at == barberRoom && step == barberIsFree && h == &b.free && from == barberChair:
		h.step = isAtDoor
		b.awake = false
		if b.due--; b.due == 0 {
			b.part()
		}
		b.next(send)
	case at == barberRoom && step == isThere && from == h.who:
		h.step, h.visit = isNext, b.came
		b.came++
		b.waiting = append(b.waiting, h)
		b.next(send)
	case at == barberChair && step == isNext && from == barberRoom && h.visit == b.served:
		b.served++
		h.hair = fill(h.hair, barberCut)
		h.step = isCut
		send(h.who, h)
		b.free.step, b.free.from = barberIsFree, at
		send(barberRoom, &b.free)
	case at == h.who && step == isCut && from == barberChair:
		c := &b.customers[at]
		c.had++
		h.step = isAtDoor
		if c.left--; c.left == 0 {
			b.part()
			return nil
		}
		h.step = isThere
		send(barberRoom, h)
	default:
		return errors.New("workloads: a message came twice, out of order or to another than it should")
	}
	return nil
}

// next sends the barber who has waited longest, if he is free.
func (b *barber) next(send carrier[*haircut]) {
	if !b.awake && len(b.waiting) > 0 {
		b.awake = true
		send(barberChair, shift(&b.waiting))
	}
}

func (b *barber) check() error {
	for i := range b.visits {
		if want := fill(uint32(i), uint32(2+barberCut*b.asked[i])); b.customers[i].had != b.asked[i] || b.visits[i].hair != want {
			return errors.New("workloads: customer " + strconv.Itoa(i) + " has had " + strconv.Itoa(b.customers[i].had) + " haircuts instead of " + strconv.Itoa(b.asked[i]) + ", or others")
		}
	}
	if b.served != b.came || len(b.waiting) > 0 {
		return errors.New("workloads: " + strconv.Itoa(b.came) + " customers came, and " + strconv.Itoa(b.served) + " were served")
	}
	return nil
}
