package remoteload

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/workloads"
)

// storm is how many actors are watched.
const storm = 10_000

// watchStorm is the loss of a node on which many actors are watched.
func (k kit) watchStorm() []workloads.Workload {
	w := workloads.Workload{
		Name:    "watchstorm",
		Doc:     "an actor watches 10,000 of another system, and the wire breaks: how soon it is told of all",
		Op:      "a watched actor",
		Checked: "each watched actor's loss once, with its reason",
		Slicing: workloads.Slicing{Whole: "between two storms the systems connect again"},
		Prepare: k.stormOnActors,
	}
	if k.link.Holds {
		w.Refs = k.ref("a goroutine that is told 10,000 times through a channel by the one that reads", k.stormByHand)
	}
	return []workloads.Workload{w}
}

type stormRun struct {
	*pair
	st      workloads.Setting
	watcher actor.Ref
	refs    []actor.Ref
	told    map[actor.Ref]bool // the watcher's
	broken  bool               // the wire has been
}

func (k kit) stormOnActors(st workloads.Setting) workloads.Run {
	r := &stormRun{pair: k.newPair(st, remote.Config{}), st: st, told: map[actor.Ref]bool{}}
	most := storm
	if st.Ops > 0 {
		most = min(most, st.Ops)
	}
	for range most {
		r.refs = append(r.refs, r.abroad(r.near, r.spawn(r.far, func(*actor.Context, any) error { return nil })))
	}
	r.watcher = r.spawn(r.near, func(ctx *actor.Context, msg any) error {
		switch m := msg.(type) {
		case watch:
			clear(r.told)
			for _, x := range r.refs[:m.n] {
				ctx.Watch(x)
			}
			close(m.done)
		case actor.Terminated:
			if r.told[m.Actor] || !errors.Is(m.Err, actor.ErrUnreachable) {
				return fmt.Errorf("remoteload: the watcher is told %v, twice or for another reason", m)
			}
			r.told[m.Actor] = true
			r.one()
		}
		return nil
	})
	return r
}

// watch has the watcher watch the first n.
type watch struct {
	n    int
	done chan struct{}
}

// pause calls f, whose time does not count.
func pause(st workloads.Setting, f func()) {
	if st.Meter == nil {
		f()
		return
	}
	st.Meter.Pause(f)
}

func (r *stormRun) Do(n int) error {
	for ; n > 0; n -= len(r.refs) {
		if err := r.err(); err != nil {
			return err
		}
		k := min(n, len(r.refs))
		var err error
		pause(r.st, func() { err = r.prepare(k) })
		if err != nil {
			return err
		}
		r.broken = true
		_ = r.farWire.Close()
		if err := r.wait(); err != nil {
			return err
		}
	}
	return nil
}

// prepare has k actors watched, over a wire that is there.
func (r *stormRun) prepare(k int) error {
	if r.broken {
		<-r.peer.Done()
		if err := r.join(); err != nil {
			return err
		}
	}
	r.left.Store(int64(k))
	w := watch{k, make(chan struct{})}
	if err := r.watcher.Tell(w); err != nil {
		return err
	}
	<-w.done
	return nil
}

func (r *stormRun) Check() error { return r.err() }

// handStorm is a storm by hand.
type handStorm struct {
	kit  kit
	st   workloads.Setting
	told int
	sent int
}

func (k kit) stormByHand(st workloads.Setting) workloads.Run { return &handStorm{kit: k, st: st} }

func (r *handStorm) Do(n int) error {
	for ; n > 0; n -= storm {
		k := min(n, storm)
		var x, y End
		var err error
		notices := make(chan int, storm)
		var reading sync.WaitGroup
		pause(r.st, func() {
			if x, y, err = r.kit.link.Raw(); err != nil {
				return
			}
			reading.Go(func() {
				_, _ = x.Receive() // fails when the other end is closed
				for i := range k {
					notices <- i
				}
			})
		})
		if err != nil {
			return err
		}
		_ = y.Close()
		for i := range k {
			if got := <-notices; got != i {
				return fmt.Errorf("remoteload: notice %d came instead of notice %d", got, i)
			}
			r.told++
		}
		r.sent += k
		reading.Wait()
		_ = x.Close()
	}
	return nil
}

func (r *handStorm) Check() error { return tally{r.told}.check([]int{r.sent}) }

func (*handStorm) Close() {}
