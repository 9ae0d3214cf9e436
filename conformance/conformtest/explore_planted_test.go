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
	stateResolved
	stateCanceled
)

var plantedBugs = []planted{
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
}
