package workloads

import (
	"errors"
	"slices"
	"strconv"
)

const (
	sieveEnd     = 100_000
	sievePrimes  = 1000 // of a filter
	sieveFilters = 10   // there are 9,592 primes below 100,000
	sieveChunk   = 512
)

// savinaSieve is the sieve of Eratosthenes as a pipeline: each filter keeps the first thousand
// primes that reach it, and passes on what none of them divides. Two chunks of numbers are under
// way at once, each with a mark behind it, which the last filter sends back to the generator;
// Savina's sends all numbers at once, and makes filters meanwhile.
func savinaSieve() []Workload {
	return savina(Workload{
		Name:    "sieve",
		Doc:     "after Savina: numbers go through 10 filters, each of which keeps a thousand primes and passes on what none divides: work that gets less from stage to stage",
		Op:      "a number",
		Slicing: Slicing{Unit: sieveNumbers},
		Checked: "numbers reach each filter in order, and as many as the one before has passed on; the primes of all filters",
	}, func(s *progress) savinaProgram[*sifted] { return newSieve(s) })
}

// sieveNumbers is how many numbers a whole problem has: those from 2 to sieveEnd.
const sieveNumbers = sieveEnd - 2

// A sifted is the message: a number, or a mark of as many numbers as the sender has sent since the
// mark before.
type sifted struct {
	from  int    // who has sent it
	n     uint32 // 0 is a mark
	count int
	clear bool // of a mark: a new problem begins behind it
}

type sieveFilter struct {
	primes []uint32
	before uint32 // the number that came last
	came   int    // since the mark before
	passed int
	_      [64]byte
}

// sieve is node 0, the generator; filter i is node 1+i.
type sieve struct {
	rota    // the generator alone
	filters [sieveFilters]sieveFilter
	known   []uint32 // all primes below sieveEnd

	// The generator's.
	chunks [2]struct {
		numbers [sieveChunk]sifted
		mark    sifted
	}
	next uint32 // number to send
	left int    // numbers to send in this Do
	out  int    // chunks under way
	turn int    // chunks sent
	back int    // chunks that have come back
}

func newSieve(s *progress) *sieve {
	v := &sieve{known: primesBelow(sieveEnd), next: 2}
	v.rota = newRota(s, 1, func(_, ops int) { v.left = ops })
	for i := range v.filters {
		v.filters[i].primes = make([]uint32, 0, sievePrimes)
	}
	return v
}

func (v *sieve) size() int { return 1 + sieveFilters }

func (v *sieve) start(send func(to int, m *sifted) error) error { return send(0, nil) }

func (v *sieve) handle(at int, m *sifted, send carrier[*sifted]) error {
	switch {
	case m == nil:
		if err := v.told(at); err != nil {
			return err
		}
		v.generate(send)
		v.generate(send)
		return nil
	case m.from != at-1 && at > 0:
		return errors.New("workloads: a number has reached another filter")
	case at > 0:
		return v.sift(at, m, send)
	case m.from != sieveFilters || m != &v.chunks[v.back%2].mark || v.out == 0:
		return errors.New("workloads: a chunk has come back twice, or too early")
	}
	m.from = 0
	v.back++
	v.out--
	v.generate(send)
	if v.out == 0 {
		v.part()
	}
	return nil
}

// generate has the generator send a chunk, or what is left of this Do.
func (v *sieve) generate(send carrier[*sifted]) {
	if v.left == 0 {
		return
	}
	c := &v.chunks[v.turn%2]
	v.turn++
	v.out++
	k := min(v.left, sieveChunk, int(sieveEnd-v.next))
	v.left -= k
	for i := range k {
		m := &c.numbers[i]
		m.from, m.n = 0, v.next
		v.next++
		send(1, m)
	}
	c.mark = sifted{count: k, clear: v.next == sieveEnd}
	if c.mark.clear {
		v.next = 2
	}
	send(1, &c.mark)
}

// sift is what the filter that is a node does with a number or a mark.
func (v *sieve) sift(at int, m *sifted, send carrier[*sifted]) error {
	f, to := &v.filters[at-1], (at+1)%(1+sieveFilters)
	if m.n == 0 {
		if m.count != f.came {
			return errors.New("workloads: " + strconv.Itoa(m.count) + " numbers were sent to filter " + strconv.Itoa(at) + ", and " + strconv.Itoa(f.came) + " have come")
		}
		m.from, m.count = at, f.passed
		f.came, f.passed = 0, 0
		if m.clear {
			if err := v.checkFilter(at, sieveEnd); err != nil {
				return err
			}
			f.primes, f.before = f.primes[:0], 0
		}
		send(to, m)
		return nil
	}
	if m.n <= f.before {
		return errors.New("workloads: a number has come twice, or out of order")
	}
	f.before = m.n
	f.came++
	for _, p := range f.primes {
		if m.n%p == 0 {
			return nil
		}
	}
	if len(f.primes) < sievePrimes {
		f.primes = append(f.primes, m.n)
		return nil
	}
	if at == sieveFilters {
		return errors.New("workloads: there are more primes than there should be")
	}
	f.passed++
	m.from = at
	send(to, m)
	return nil
}

// primesBelow returns the primes below n.
func primesBelow(n int) (primes []uint32) {
	composite := make([]bool, n)
	for i := 2; i < n; i++ {
		if composite[i] {
			continue
		}
		primes = append(primes, uint32(i))
		for j := i * i; j < n; j += i {
			composite[j] = true
		}
	}
	return primes
}

// checkFilter looks whether the filter that is a node has the primes below n that it should.
func (v *sieve) checkFilter(at int, n uint32) error {
	want := v.known[min((at-1)*sievePrimes, len(v.known)):min(at*sievePrimes, len(v.known))]
	for len(want) > 0 && want[len(want)-1] >= n {
		want = want[:len(want)-1]
	}
	if !slices.Equal(v.filters[at-1].primes, want) {
		return errors.New("workloads: filter " + strconv.Itoa(at) + " has other numbers than the primes that it should")
	}
	return nil
}

func (v *sieve) check() error {
	for at := 1; at <= sieveFilters; at++ {
		if err := v.checkFilter(at, v.next); err != nil {
			return err
		}
	}
	return nil
}
