package conformance

import (
	"errors"
	"slices"

	"github.com/dynolab/dyno/actor"
)

// recorder is an actor of a script: it logs what happens to it, with its name and which
// of its lives it is, such as a1.start and a2:hello, carries out orders, and does what
// the script has follow on an entry.
type recorder struct {
	p    *performance
	name string
	life int
}

func (a *recorder) id() string { return text(a.name, a.life) }

func (a *recorder) hook(ctx *actor.Context, what string) error {
	return a.p.happens(&turn{p: a.p, ctx: ctx, name: a.name}, a.id(), what)
}

// PreStart implements actor.PreStarter.
func (a *recorder) PreStart(ctx *actor.Context) error { return a.hook(ctx, ".start") }

// PostStop implements actor.PostStopper.
func (a *recorder) PostStop(ctx *actor.Context) error { return a.hook(ctx, ".stop") }

// Receive implements actor.Actor.
func (a *recorder) Receive(ctx *actor.Context, msg any) error {
	switch m := msg.(type) {
	case *order:
		return m.Do(ctx)
	case petition:
		a.p.mu.Lock()
		a.p.replies[text(m.n)] = m.re
		a.p.mu.Unlock()
	case actor.Terminated:
		if m.Err != nil {
			a.p.mu.Lock()
			err := a.p.errs[m.Actor.Name()]
			a.p.mu.Unlock()
			a.p.e.same("the reason of the end of "+m.Actor.Name(), m.Err, err)
		}
	}
	return a.p.happens(&turn{p: a.p, ctx: ctx, name: a.name, msg: msg}, a.id(), ":"+said(msg))
}

// restartable is a recorder with hooks for restarts.
type restartable struct{ recorder }

// PreRestart implements actor.PreRestarter.
func (a *restartable) PreRestart(ctx *actor.Context, cause error) error {
	a.caused(cause)
	return a.hook(ctx, ".prerestart")
}

// PostRestart implements actor.PostRestarter.
func (a *restartable) PostRestart(ctx *actor.Context, cause error) error {
	a.caused(cause)
	return a.hook(ctx, ".postrestart")
}

// caused demands that the cause of a restart is what some actor has failed with.
func (a *restartable) caused(cause error) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.e.require(slices.Contains(a.p.all, cause), "the cause of the restart of ", a.name, " is ", cause, ", with which no actor has failed")
}

// quiet is a recorder without hooks.
type quiet struct{ r *recorder }

// Receive implements actor.Actor.
func (a quiet) Receive(ctx *actor.Context, msg any) error { return a.r.Receive(ctx, msg) }

// spawn makes a recorder: NAME and how it is. After the word refused is the reason why
// it is not made.
func (p *performance) spawn(ctx *actor.Context, args []string) {
	name, args := args[0], args[1:]
	props := actor.Props{}
	kind, anonymous := "", false
	var refused error
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		value := func() (v string) {
			v, args = args[0], args[1:]
			return v
		}
		super := func() *actor.Supervisor {
			if props.Supervisor == nil {
				props.Supervisor = &actor.Supervisor{}
			}
			return props.Supervisor
		}
		switch word {
		case "restartable", "quiet":
			kind = word
		case "anonymous":
			anonymous = true
		case "refused":
			refused = reasonNamed(p.e, value())
		case "mailbox":
			switch policy := value(); policy {
			case "each":
				props.Mailbox = p.mailbox
			case "priority":
				props.Mailbox.Priority = samePriority
			case "urgent": // a number is its own priority
				props.Mailbox.Priority = priorityOf
			case "lifo", "fifo", "refuses", "drops": // of the actor's own; the last two have a bound
				bound := 0
				if policy == "refuses" || policy == "drops" {
					bound = number(value())
				}
				props.Mailbox.New = func() actor.Mailbox {
					return &pile{fifo: policy == "fifo", bound: bound, drops: policy == "drops"}
				}
			default:
				props.Mailbox.Policy = policyNamed(p.e, policy)
				props.Mailbox.Capacity = number(value())
			}
		case "throughput":
			props.Throughput = number(value())
		case "watermark":
			props.Mailbox.Watermark = number(value())
		case "middleware":
			props.Middleware = append(props.Middleware, p.middleware(value()))
		case "invoker":
			name := value()
			props.Invoker = invoker(func(ctx *actor.Context, a actor.Actor, msg any) error {
				return p.through(ctx, name, msg, func(msg any) error { return a.Receive(ctx, msg) })
			})
		case "supervise":
			super().Decide = p.decide(name, value())
		case "all-for-one":
			super().Strategy = actor.AllForOne
		case "retry":
			super().Retry = true
		case "at-most": // restarts
			if n := value(); n == "any" {
				super().MaxRestarts = -1
			} else {
				super().MaxRestarts = number(n)
			}
		case "within":
			super().Window = duration(value())
		case "backoff": // FIRST LONGEST FACTOR
			super().Backoff = actor.Backoff{Min: duration(value()), Max: duration(value()), Factor: float64(number(value()))}
		default:
			p.e.fail("there is no way to spawn an actor called ", word)
		}
	}
	life := 0
	props.New = func() actor.Actor {
		life++
		return p.make(name, kind, life)
	}
	var r actor.Ref
	var err error
	if anonymous {
		r, err = ctx.Spawn(props)
	} else {
		r, err = ctx.SpawnNamed(name, props)
	}
	if refused != nil {
		p.e.require(r.IsZero(), "Spawn of ", name, " was refused and has made ", r.String())
		p.e.same("what Spawn of "+name+" returned", err, refused)
		return
	}
	p.w.born(r, err)
	p.mu.Lock()
	p.refs[name] = r
	p.mu.Unlock()
}

// middleware logs what comes to an actor and goes, as NAME(MESSAGE and NAME)MESSAGE. What
// the script has follow on the first is done before, and says what becomes of it.
func (p *performance) middleware(name string) actor.Middleware {
	return func(next actor.ReceiveFunc) actor.ReceiveFunc {
		p.mu.Lock()
		p.made[name]++
		p.mu.Unlock()
		return func(ctx *actor.Context, msg any) error {
			return p.through(ctx, name, msg, func(msg any) error { return next(ctx, msg) })
		}
	}
}

// through gives a message to what comes next, unless the script says something else. Orders
// go through silently.
func (p *performance) through(ctx *actor.Context, name string, msg any, next func(msg any) error) (err error) {
	if _, ok := msg.(*order); ok {
		return next(msg)
	}
	t := &turn{p: p, ctx: ctx, name: ctx.Self().Name(), msg: msg, next: &passing{msg: msg, times: 1}}
	if err := p.happens(t, name, "("+said(msg)); err != nil || t.next.keep {
		return err
	}
	for range t.next.times {
		err = next(t.next.msg)
	}
	p.log.note(name, ")", said(msg))
	if t.next.succeed {
		return nil
	}
	return err
}

// make makes the value of an actor for one of its lives; nil, or a failure, if that is
// what the script has follow on it.
func (p *performance) make(name, kind string, life int) actor.Actor {
	p.mu.Lock()
	acts := p.rules[text(name, life, ".new")]
	if len(acts) > 0 {
		kind := p.kind
		if acts[0] == "nothing" {
			kind.is = func(*Env, error) {}
		}
		p.injected[name] = append(p.injected[name], injection{nil, kind})
	}
	p.mu.Unlock()
	if len(acts) > 0 && (acts[0] == "nothing" || p.kind.fail() != nil) {
		return nil
	}
	r := recorder{p, name, life}
	switch kind {
	case "restartable":
		return &restartable{r}
	case "quiet":
		return quiet{&r}
	}
	return &r
}

// decide returns what a supervisor decides, which is a directive, or how it fails to.
// What the script has follow on NAME.decide is done before.
func (p *performance) decide(name, how string) func(actor.Failure) actor.Directive {
	directives := []actor.Directive{actor.Restart, actor.Resume, actor.Stop, actor.Escalate}
	if how == "default" {
		return nil
	}
	return func(f actor.Failure) actor.Directive {
		p.e.require(!f.Actor.IsZero() && !f.Time.IsZero() && f.Err != nil, "Decide was asked about a failure without an actor, time or error")
		p.mu.Lock()
		told := p.injected[f.Actor.Name()]
		p.mu.Unlock()
		p.e.require(len(told) == 0 || f.Msg == told[len(told)-1].msg, "Decide was asked about a failure on another message")
		_ = p.follow(&turn{p: p, name: name, msg: f}, name, ".decide")
		for _, d := range directives {
			if d.String() == how {
				return d
			}
		}
		switch how {
		case "asked": // logs that it was asked
			p.log.note(name, ".asked-about-", f.Actor.Name())
			return actor.Resume
		case "panic", "Goexit":
			kind := failureKindNamed(p.e, how)
			p.mu.Lock()
			p.injected[name] = append(p.injected[name], injection{nil, kind})
			p.mu.Unlock()
			_ = kind.fail()
		case "nonsense":
			return 17
		default:
			panic(failure{errors.New("a supervisor cannot " + how)})
		}
		return 17
	}
}

// policyNamed returns the policy that a word of scripts stands for.
func policyNamed(e *Env, word string) actor.Policy {
	for _, policy := range actor.Policies()[1:] { // behind Unbounded, the default
		if policy.String() == word {
			return policy
		}
	}
	e.fail("there is no policy ", word)
	return 0
}
