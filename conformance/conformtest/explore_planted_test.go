package conformtest

import "fmt"

// planted is a program with a bug that is well known, and without it.
type planted struct {
	name string
	bug  string // what is wrong
	cure string // what the other variant does instead
	// build adds the processes. The two variants differ where wrong is asked.
	build func(m *computer, wrong bool)
}

// The states of a task, where one is modelled.
const (
	statePending = iota
	stateRunning
	stateResolved
	stateCanceled
)

var plantedBugs = []planted{
	{
		"lost update", "a counter is loaded, and stored one larger", "adds atomically",
		func(m *computer, wrong bool) {
			n := &word{name: "n"}
			for i, work := range []int{0, 4, 8} {
				m.process(fmt.Sprint("p", i), func(p *process) {
					p.work(work)
					if wrong {
						p.store(n, p.load(n)+1)
					} else {
						p.add(n, 1)
					}
				})
			}
			m.finally = func() error { return want("n", n.v, 3) }
		},
	},
	{
		"check then act", "a limit is looked at, and then the count raised", "raises it with compare-and-swap",
		func(m *computer, wrong bool) {
			busy := &word{name: "busy"}
			for i, work := range []int{0, 5, 10} {
				m.process(fmt.Sprint("p", i), func(p *process) {
					p.work(work)
					if wrong {
						if p.load(busy) > 0 || p.add(busy, 1) < 1 {
							return
						}
					} else if !p.cas(busy, 0, 1) {
						return
					}
					if busy.v > 1 {
						m.fail("%d are busy, and the limit is 1", busy.v)
					}
					p.add(busy, -1)
				})
			}
		},
	},
	{
		"double start", "a worker and a waiter that helps both see that the task has not begun", "only who changes its state runs it",
		func(m *computer, wrong bool) {
			state, runs := &word{name: "state"}, 0
			for i, work := range []int{1, 6} {
				m.process([]string{"worker", "waiter"}[i], func(p *process) {
					p.work(work)
					if wrong {
						if p.load(state) != statePending {
							return
						}
						p.store(state, stateRunning)
					} else if !p.cas(state, statePending, stateRunning) {
						return
					}
					if runs++; runs > 1 {
						m.fail("the task runs twice")
					}
					p.work(3)
				})
			}
		},
	},
	{
		"cancel races completion", "who completes sees that the task is pending, and stores the result later", "changes the state only if it is still pending",
		func(m *computer, wrong bool) {
			state := &word{name: "state"}
			m.process("runner", func(p *process) {
				p.work(3)
				if wrong {
					if p.load(state) == statePending {
						p.store(state, stateResolved)
					}
				} else {
					p.cas(state, statePending, stateResolved)
				}
			})
			m.process("canceler", func(p *process) {
				p.work(1)
				p.cas(state, statePending, stateCanceled)
			})
			m.process("waiter", func(p *process) {
				p.work(2)
				if first := p.load(state); first != statePending {
					p.work(2)
					if second := p.load(state); second != first {
						m.fail("a final state has changed from %d to %d", first, second)
					}
				}
			})
		},
	},
	{
		"lost wake-up", "the consumer looks, and blocks later: the signal comes in between", "looks and blocks under a mutex",
		func(m *computer, wrong bool) {
			ready, q, mu := &word{name: "ready"}, &queue{name: "cond"}, &mutex{queue: queue{name: "mu"}}
			m.process("consumer", func(p *process) {
				if wrong {
					if p.load(ready) == 0 {
						p.park(q)
					}
					return
				}
				p.lock(mu)
				for p.load(ready) == 0 {
					p.wait(q, mu)
				}
				p.unlock(mu)
			})
			m.process("producer", func(p *process) {
				p.work(6)
				if !wrong {
					p.lock(mu)
				}
				p.store(ready, 1)
				p.signal(q)
				if !wrong {
					p.unlock(mu)
				}
			})
		},
	},
	{
		"missed requeue on resume", "who resumes an actor looks at its mailbox before it says that the actor is idle", "looks after it has said so",
		func(m *computer, wrong bool) {
			const idle, scheduled, suspended = 0, 1, 2
			mail, phase := &word{name: "mail"}, &word{name: "phase", v: suspended}
			turn := func(p *process) {
				for again := true; again; {
					for p.load(mail) > 0 {
						p.add(mail, -1)
					}
					p.store(phase, idle)
					again = p.load(mail) > 0 && p.cas(phase, idle, scheduled)
				}
			}
			m.process("sender", func(p *process) {
				p.work(5)
				p.add(mail, 1)
				if p.cas(phase, idle, scheduled) {
					turn(p)
				}
			})
			m.process("supervisor", func(p *process) {
				p.work(2)
				if wrong {
					if p.load(mail) > 0 {
						p.store(phase, scheduled)
						turn(p)
					} else {
						p.store(phase, idle)
					}
					return
				}
				p.store(phase, idle)
				if p.load(mail) > 0 && p.cas(phase, idle, scheduled) {
					turn(p)
				}
			})
			m.finally = func() error { return want("messages left that will not be handled", mail.v, 0) }
		},
	},
	{
		"ABA in a stack", "who pops finds the same node on top, and not the same one below", "the top has a version",
		func(m *computer, wrong bool) {
			// The top is version*10 + node; node 0 is none. 1 is on 2, 2 is on 3.
			top := &word{name: "top", v: 1}
			next := []*word{nil, {name: "next1", v: 2}, {name: "next2", v: 3}, {name: "next3"}}
			swap := func(p *process, old, node int) bool {
				v := node
				if !wrong {
					v += (old/10 + 1) * 10
				}
				return p.cas(top, old, v)
			}
			pop := func(p *process) int {
				for {
					t := p.load(top)
					if t%10 == 0 {
						return 0
					}
					if swap(p, t, p.load(next[t%10])) {
						return t % 10
					}
				}
			}
			var kept []int
			m.process("a", func(p *process) { kept = append(kept, pop(p)) })
			m.process("b", func(p *process) {
				p.work(6)
				first, second := pop(p), pop(p)
				kept = append(kept, second)
				for first != 0 {
					t := p.load(top)
					p.store(next[first], t%10)
					if swap(p, t, first) {
						break
					}
				}
			})
			m.finally = func() error {
				seen := map[int]int{}
				for _, n := range kept {
					seen[n]++
				}
				for n := top.v % 10; n != 0; n = next[n].v {
					seen[n]++
				}
				for n := 1; n <= 3; n++ {
					if seen[n] != 1 {
						return fmt.Errorf("node %d is there %d times", n, seen[n])
					}
				}
				return nil
			}
		},
	},
	{
		"last item taken twice", "the owner of a deque takes the last item without compare-and-swap", "owner and thief decide it by one",
		func(m *computer, wrong bool) {
			top, bottom := &word{name: "top"}, &word{name: "bottom", v: 1}
			taken := 0
			m.process("owner", func(p *process) {
				p.work(2)
				b := p.load(bottom) - 1
				p.store(bottom, b)
				t := p.load(top)
				if t > b {
					p.store(bottom, t)
					return
				}
				if wrong {
					p.store(top, t+1)
					taken++
				} else if p.cas(top, t, t+1) {
					taken++
				}
				p.store(bottom, t+1)
			})
			m.process("thief", func(p *process) {
				p.work(9)
				t := p.load(top)
				if t < p.load(bottom) && p.cas(top, t, t+1) {
					taken++
				}
			})
			m.finally = func() error { return want("times the item was taken", taken, 1) }
		},
	},
	{
		"unlocked too early", "a balance is looked at under the lock, and changed under it again", "holds the lock in between",
		func(m *computer, wrong bool) {
			balance, mu := &word{name: "balance", v: 10}, &mutex{queue: queue{name: "mu"}}
			for i, work := range []int{0, 7} {
				m.process(fmt.Sprint("p", i), func(p *process) {
					p.work(work)
					p.lock(mu)
					enough := p.load(balance) >= 10
					if wrong {
						p.unlock(mu)
						p.lock(mu)
					}
					if enough {
						p.add(balance, -10)
					}
					p.unlock(mu)
				})
			}
			m.finally = func() error { return want("balance", balance.v, 0) }
		},
	},
	{
		"published before initialised", "a pointer is stored before what it points to", "stores it afterwards",
		func(m *computer, wrong bool) {
			pointer, field := &word{name: "pointer"}, &word{name: "field"}
			m.process("writer", func(p *process) {
				p.work(3)
				if wrong {
					p.store(pointer, 1)
					p.store(field, 42)
				} else {
					p.store(field, 42)
					p.store(pointer, 1)
				}
			})
			m.process("reader", func(p *process) {
				p.work(5)
				if p.load(pointer) == 1 && p.load(field) != 42 {
					m.fail("the reader sees an object without its content")
				}
			})
		},
	},
	{
		"deadlock by lock order", "two processes take two locks in opposite orders", "all take them in one order",
		func(m *computer, wrong bool) {
			x, y := &mutex{queue: queue{name: "x"}}, &mutex{queue: queue{name: "y"}}
			m.process("a", func(p *process) {
				p.lock(x)
				p.lock(y)
				p.unlock(y)
				p.unlock(x)
			})
			m.process("b", func(p *process) {
				first, second := x, y
				if wrong {
					first, second = y, x
				}
				p.work(5)
				p.lock(first)
				p.lock(second)
				p.unlock(second)
				p.unlock(first)
			})
		},
	},
	{
		"deadlock of three", "three philosophers take the left fork first", "one takes the right fork first",
		func(m *computer, wrong bool) {
			var forks [3]*mutex
			for i := range forks {
				forks[i] = &mutex{queue: queue{name: fmt.Sprint("fork", i)}}
			}
			for i := range forks {
				m.process(fmt.Sprint("p", i), func(p *process) {
					first, second := forks[i], forks[(i+1)%3]
					if i == 2 && !wrong {
						first, second = second, first
					}
					p.work(4 * i)
					p.lock(first)
					p.lock(second)
					p.work(1)
					p.unlock(second)
					p.unlock(first)
				})
			}
		},
	},
	{
		"slot lost on cancel", "a waiter that is canceled does not look whether it has been granted the slot", "gives the slot back",
		func(m *computer, wrong bool) {
			free, granted, gone := &word{name: "free"}, &word{name: "granted"}, &word{name: "canceled"}
			queued, mu, q := &word{name: "queued"}, &mutex{queue: queue{name: "mu"}}, &queue{name: "waiter"}
			m.process("waiter", func(p *process) {
				p.lock(mu)
				p.store(queued, 1)
				for granted.v == 0 && gone.v == 0 {
					p.wait(q, mu)
				}
				canceled := gone.v == 1
				p.store(queued, 0)
				if canceled && wrong {
					p.unlock(mu)
					return
				}
				if granted.v == 1 {
					p.add(free, 1) // it has used it, or has no use for it
				}
				p.unlock(mu)
			})
			m.process("holder", func(p *process) {
				p.work(8)
				p.lock(mu)
				if p.load(queued) == 1 {
					p.store(granted, 1)
					p.signal(q)
				} else {
					p.add(free, 1)
				}
				p.unlock(mu)
			})
			m.process("canceler", func(p *process) {
				p.work(17)
				p.lock(mu)
				p.store(gone, 1)
				p.signal(q)
				p.unlock(mu)
			})
			m.finally = func() error { return want("free slots", free.v, 1) }
		},
	},
	{
		"made twice", "no process looks again when the lock has been taken", "looks again under the lock",
		func(m *computer, wrong bool) {
			made, mu := &word{name: "made"}, &mutex{queue: queue{name: "mu"}}
			for i, work := range []int{0, 4} {
				m.process(fmt.Sprint("p", i), func(p *process) {
					p.work(work)
					if p.load(made) > 0 {
						return
					}
					p.lock(mu)
					if wrong || p.load(made) == 0 {
						p.add(made, 1)
					}
					p.unlock(mu)
				})
			}
			m.finally = func() error { return want("made", made.v, 1) }
		},
	},
	{
		"counted too late", "a worker adds itself to what is waited for", "who starts the worker adds it",
		func(m *computer, wrong bool) {
			left, done := &word{name: "left"}, &word{name: "done"}
			mu, q := &mutex{queue: queue{name: "mu"}}, &queue{name: "idle"}
			m.process("main", func(p *process) {
				for i := range 2 {
					if !wrong {
						p.add(left, 1)
					}
					p.step()
					m.process(fmt.Sprint("worker", i), func(p *process) {
						if wrong {
							p.add(left, 1)
						}
						p.work(2)
						p.add(done, 1)
						p.lock(mu)
						if p.add(left, -1) == 0 {
							p.signal(q)
						}
						p.unlock(mu)
					})
				}
				p.work(4)
				p.lock(mu)
				for p.load(left) > 0 {
					p.wait(q, mu)
				}
				p.unlock(mu)
				if n := p.load(done); n != 2 {
					m.fail("the wait is over when %d of 2 workers are done", n)
				}
			})
		},
	},
	{
		"signal for broadcast", "one condition for two kinds of waiters, of which the wrong one is woken", "wakes all",
		func(m *computer, wrong bool) {
			items, mu, q := &word{name: "items"}, &mutex{queue: queue{name: "mu"}}, &queue{name: "cond"}
			side := func(name string, full, d int) {
				m.process(name, func(p *process) {
					p.lock(mu)
					for p.load(items) == full {
						p.wait(q, mu)
					}
					p.add(items, d)
					if wrong {
						p.signal(q)
					} else {
						p.broadcast(q)
					}
					p.unlock(mu)
				})
			}
			for i := range 3 {
				side(fmt.Sprint("producer", i), 1, 1)
				side(fmt.Sprint("consumer", i), 0, -1)
			}
		},
	},
	{
		"torn read", "a reader does not look whether the version has changed", "looks, and gives up",
		func(m *computer, wrong bool) {
			version, a, b := &word{name: "version"}, &word{name: "a"}, &word{name: "b"}
			m.process("writer", func(p *process) {
				p.work(8)
				p.add(version, 1)
				p.store(a, 1)
				p.store(b, 1)
				p.add(version, 1)
			})
			m.process("reader", func(p *process) {
				p.work(2)
				v := p.load(version)
				if v%2 == 1 {
					return
				}
				x, y := p.load(a), p.load(b)
				if !wrong && p.load(version) != v {
					return
				}
				if x != y {
					m.fail("the reader sees a = %d and b = %d", x, y)
				}
			})
		},
	},
	{
		"revived reference", "a count is seen to be positive, and raised later: the object may be gone", "raises it with compare-and-swap",
		func(m *computer, wrong bool) {
			refs, freed := &word{name: "refs", v: 1}, &word{name: "freed"}
			release := func(p *process) {
				if p.add(refs, -1) == 0 {
					p.store(freed, 1)
				}
			}
			m.process("owner", func(p *process) {
				p.work(4)
				release(p)
			})
			m.process("other", func(p *process) {
				p.work(1)
				for {
					n := p.load(refs)
					if n == 0 {
						return
					}
					if wrong {
						p.add(refs, 1)
						break
					}
					if p.cas(refs, n, n+1) {
						break
					}
				}
				if p.load(freed) == 1 {
					m.fail("an object is used after it has been freed")
				}
				release(p)
			})
		},
	},
}

func want(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: %d, want %d", what, got, want)
	}
	return nil
}
