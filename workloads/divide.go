package workloads

import (
	"sync"

	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// Something divisible is a share of the work of a program that divides it: into
// two parts, those into two parts each, and so on until a part is for one task.
type divisible[S any] interface {
	// divide returns two parts, or false if there is nothing to divide.
	divide() (a, b S, ok bool)

	// do does what is for one task.
	do()
}

// The tasks of shares are written with each workload: the value of a generic function allocates,
// for each fork.

// The ways to do a share by hand. All do one of two parts in the same goroutine,
// so that there are as many as tasks. They return how many tasks' work they did. (The references
// of fib and tree are written out: the closures of a generic function hold a dictionary
// besides, which tasks that do nothing else would show.)

func divideOnErrgroup[S divisible[S]](s S) (int, error) {
	a, b, ok := s.divide()
	if !ok {
		s.do()
		return 1, nil
	}
	var (
		eg   errgroup.Group
		x, y int
	)
	eg.Go(func() (err error) {
		y, err = divideOnErrgroup(b)
		return err
	})
	x, err := divideOnErrgroup(a)
	if also := eg.Wait(); err == nil {
		err = also
	}
	return x + y, err
}

func divideOnGoroutines[S divisible[S]](s S) int {
	a, b, ok := s.divide()
	if !ok {
		s.do()
		return 1
	}
	var (
		wg sync.WaitGroup
		y  int
	)
	wg.Add(1)
	go func() {
		defer wg.Done()
		y = divideOnGoroutines(b)
	}()
	x := divideOnGoroutines(a)
	wg.Wait()
	return x + y
}

func divideOnChannels[S divisible[S]](s S) int {
	a, b, ok := s.divide()
	if !ok {
		s.do()
		return 1
	}
	count := make(chan int, 1)
	go func() { count <- divideOnChannels(b) }()
	return divideOnChannels(a) + <-count
}

// divideRefs are the references of a workload whose jobs newJob makes: these ask for a share, and want
// to know of how many tasks the work was. floor does a share without dividing it.
func divideRefs[S divisible[S]](newJob func(ask asking[S, int]) taskJob, floorDoc string, floor func(s S) int) []Ref {
	return []Ref{
		valueRef(refErrgroup, "an errgroup for every division", newJob, divideOnErrgroup[S]),
		valueRef(refGoroutines, "a goroutine and a WaitGroup for every division", newJob, sure(divideOnGoroutines[S])),
		valueRef(refBuffered, "a goroutine and a channel for its one value for every division", newJob, sure(divideOnChannels[S])),
		valueRef(refFloor, floorDoc, newJob, sure(floor)),
	}
}
