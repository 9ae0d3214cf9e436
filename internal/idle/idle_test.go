package idle

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A chain of goroutines that wake each other has ended when wait returns.
func TestWait(t *testing.T) {
	for range 50 {
		end := make(chan int, 1)
		links := make([]chan int, 21)
		for i := range links {
			links[i] = make(chan int)
			go func() {
				n := <-links[i]
				if i == 20 {
					end <- n
					return
				}
				links[i+1] <- n + 1
			}()
		}
		links[0] <- 0
		if !Wait() {
			t.Fatal("it gave up, though all is at rest at some time")
		}
		select {
		case n := <-end:
			if n != 20 {
				t.Fatalf("the chain yielded %d, want 20", n)
			}
		default:
			t.Fatal("the chain had not ended when wait returned")
		}
	}
}

// Several that wait do not keep one another from coming to an end.
func TestWaitAtOnce(t *testing.T) {
	const n = 8
	rested := make(chan bool)
	for range n {
		go func() {
			for range 100 {
				if !Wait() {
					rested <- false
					return
				}
			}
			rested <- true
		}()
	}
	for range n {
		if !<-rested {
			t.Error("it gave up, though all others only waited too")
		}
	}
}

// What never rests does not hold wait for ever.
func TestWaitGivesUp(t *testing.T) {
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !stop.Load() {
			runtime.Gosched()
		}
	}()
	looks := 0
	if Now() || WaitUnless(func() bool { looks++; return looks == 100 }) {
		t.Error("it says that all is at rest, while a goroutine spins")
	}
	stop.Store(true)
	<-ended
}

// Who looks when a timer has rung finds a program that waits at rest, each time but when the
// machine keeps a thread that has nothing to run from finding that out.
func TestNowAtTick(t *testing.T) {
	const n = 20
	most := 0
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 10 {
		rests := 0
		for range n {
			<-tick.C
			if Now() {
				rests++
			}
		}
		if most = max(most, rests); most > n*9/10 {
			return
		}
	}
	t.Errorf("at %d of %d ticks at most all was at rest, want nearly all: nothing but the test runs", most, n)
}
