package workloads_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dynolab/dyno/workloads"
	"go.uber.org/goleak"
)

// plainFramework is a Framework of goroutines and channels, for the tests to do harm with.
type plainFramework struct {
	harm func(m any) []any // what comes of a message; nil: itself
	quit chan struct{}     // closed by abandon; nil: it ends by Close only
	wg   sync.WaitGroup

	mu  sync.Mutex
	all []*plainActor // guarded by mu
}

type plainActor struct {
	f    *plainFramework
	in   chan parcel
	from *plainActor // who sent the message that is being handled
	stop sync.Once
	done chan struct{}
}

type parcel struct {
	from *plainActor
	m    any
}

func (f *plainFramework) Spawn(receive workloads.Receive) workloads.Address {
	a := &plainActor{f: f, in: make(chan parcel, 2048), done: make(chan struct{})}
	f.mu.Lock()
	f.all = append(f.all, a)
	f.mu.Unlock()
	f.wg.Go(func() {
		defer close(a.done)
		for {
			select {
			case p, more := <-a.in:
				if !more {
					return
				}
				a.from = p.from
				receive(a, p.m)
			case <-f.quit:
				return
			}
		}
	})
	return a
}

func (f *plainFramework) send(from *plainActor, to workloads.Address, m any) {
	all := []any{m}
	if f.harm != nil {
		f.mu.Lock()
		all = f.harm(m)
		f.mu.Unlock()
	}
	for _, m := range all {
		select {
		case to.(*plainActor).in <- parcel{from, m}:
		case <-f.quit:
		}
	}
}

func (f *plainFramework) Send(to workloads.Address, m any) { f.send(nil, to, m) }

func (f *plainFramework) Stop(all []workloads.Address) {
	for _, a := range all {
		a := a.(*plainActor)
		a.stop.Do(func() { close(a.in) })
		<-a.done
	}
}

func (f *plainFramework) Close() {
	f.mu.Lock()
	all := slices.Clone(f.all)
	f.mu.Unlock()
	for _, a := range all {
		a.stop.Do(func() { close(a.in) })
	}
	f.wg.Wait()
}

// abandon ends the actors of a run that failed, whose messages are still under way.
func (f *plainFramework) abandon() {
	close(f.quit)
	f.wg.Wait()
}

func (a *plainActor) Send(to workloads.Address, m any)    { a.f.send(a, to, m) }
func (a *plainActor) Request(to workloads.Address, m any) { a.f.send(a, to, m) }
func (a *plainActor) Reply(m any)                         { a.f.send(a, a.from, m) }

// tried reports whether a framework runs w here: curves are the same with other numbers.
func tried(w workloads.Workload) bool {
	return w.On != nil && (w.Variant == "" || w.Name == "savina")
}

// Every workload that frameworks can run does any number of operations by one, again and
// again, and finds all of them.
func TestFrameworks(t *testing.T) {
	names := make(map[string]bool)
	for _, w := range workloads.All() {
		if !tried(w) {
			continue
		}
		names[w.Name] = true
		run := w.On(workloads.Setting{}, new(plainFramework))
		for _, n := range []int{1, 7, 300, 1500} {
			if err := run.Do(n); err != nil {
				t.Fatalf("%s: %d operations: %v", w.Path(), n, err)
			}
		}
		if err := run.Check(); err != nil {
			t.Errorf("%s: %v", w.Path(), err)
		}
		run.Close()
	}
	for _, name := range strings.Fields("ask big count fanin latency1k latency100k pairs pingpong ring savina spawn") {
		if !names[name] {
			t.Errorf("no framework can run %s", name)
		}
	}
}

// A framework that delivers a message twice, or a message of another type, is found out. (What
// loses one does not end, and is ended by the caller.)
func TestFrameworksAreChecked(t *testing.T) {
	if raceEnabled {
		t.Skip("a message that comes twice is a data race")
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, w := range workloads.All() {
		if !tried(w) {
			continue
		}
		for name, harm := range map[string]func(m any) []any{
			"twice":   func(m any) []any { return []any{m, m} },
			"another": func(any) []any { return []any{"another"} },
		} {
			count := 0
			f := &plainFramework{quit: make(chan struct{}), harm: func(m any) []any {
				if count++; count == 2100 { // 2,000 first ones are in the preparation of pairs
					return harm(m)
				}
				return []any{m}
			}}
			run := w.On(workloads.Setting{}, f)
			err := run.Do(5000)
			if err == nil {
				err = run.Check()
			}
			if err == nil {
				t.Errorf("%s: a message came %s, and nothing is said of it", w.Path(), name)
			}
			f.abandon()
		}
	}
}
