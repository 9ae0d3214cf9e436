package conformance

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/actor/scenario"
)

// This file carries out scenarios: scripts about actors, one step a line. Package
// actor/scenario has the scripts, and says what each word means.

// scenarioClause makes a clause of a script. A board has no room for all of them at once.
func scenarioClause(s *scenario.Scenario, core bool) *Clause {
	c := &Clause{Name: s.Name, Rule: s.Rule, Why: s.Why, Core: core, Script: s.Script, Check: play(s.Script)}
	for _, line := range lines(s.Script) {
		for _, word := range line.words {
			switch word {
			case "hold", "sending": // an actor is in a turn while others run, or a sender waits
				c.Needs = overlapEager
			case "Goexit":
				c.On.Goexit = true
			case "exact":
				c.Exact = true
			}
		}
	}
	return c
}

// play makes a check of a script.
func play(script string) func(e *Env) error {
	return check(func(e *Env) { playFrom(e, lines(script), choice{kind: failureKinds(e)[0]}) })
}

// playFrom plays a script in a system of its own, once for each combination of what its
// leading "for" lines offer.
func playFrom(e *Env, script []scriptLine, c choice) {
	if len(script) == 0 || script[0].words[0] != "for" {
		(&performance{choice: c}).play(e, script)
		return
	}
	head := script[0].words
	switch {
	case len(head) <= 3 && head[1] == "mailbox":
		for _, m := range mailboxes {
			if len(head) == 3 && m.Capacity > 0 {
				m.Capacity = number(head[2])
			}
			next := c
			next.mailbox = m
			next.values = append(slices.Clip(c.values), text("mailbox ", int(m.Policy), "/", m.Capacity))
			playFrom(e, script[1:], next)
		}
	case len(head) == 2 && head[1] == "failure":
		for _, kind := range failureKinds(e) {
			next := c
			next.kind = kind
			next.values = append(slices.Clip(c.values), kind.name)
			playFrom(e, script[1:], next)
		}
	case len(head) > 3 && head[2] == "in":
		for _, value := range head[3:] {
			next := c
			next.values = append(slices.Clip(c.values), value)
			rest := make([]scriptLine, len(script)-1)
			for i, l := range script[1:] {
				rest[i] = scriptLine{l.text, substitute(l.words, "$"+head[1], value)}
			}
			playFrom(e, rest, next)
		}
	default:
		e.fail("a script offers nothing: ", script[0].text)
	}
}

// choice is one of the combinations that the "for" lines of a script offer.
type choice struct {
	values  []string            // in words
	mailbox actor.MailboxConfig // for the word each
	kind    failureKind         // an error if nothing else is said
}

// configure changes the configuration of the system as lines at the head of the script
// say, and returns the others.
func (p *performance) configure(c *actor.Config, script []scriptLine) []scriptLine {
	p.keep = 64
	for ; len(script) > 0; script = script[1:] {
		words := script[0].words
		switch {
		case words[0] == "exact": // for the clause
		case words[0] != "system":
			return script
		case words[1] == "keep": // so many dead letters
			c.KeepDeadLetters = number(words[2])
			p.keep = max(0, c.KeepDeadLetters)
			if c.KeepDeadLetters == 0 {
				p.keep = 64
			}
		case words[1] == "supervise": // the guardian's
			c.Guardian = actortest.Scripted()
			c.Guardian.Supervisor = &actor.Supervisor{Decide: p.decide("user", words[2])}
		case words[1] == "middleware":
			for _, name := range words[2:] {
				c.Middleware = append(c.Middleware, p.middleware(name))
			}
		default:
			p.e.fail("a script says of the system: ", script[0].text)
		}
	}
	return script
}

// performance is one run through a script.
type performance struct {
	choice

	e     *Env
	w     *world
	clock *actor.ManualClock

	log, events, letterLog eventLog // what actors have done, and what the event stream has said
	calls                  map[string]pendingCall
	subs                   map[string]subscription
	keep, seen             int // dead letters that the system keeps, and those of deadLetters
	turns                  int // when they were last counted

	mu       sync.Mutex // guards what follows, which turns use as well
	began    time.Time  // when the line did
	futures  map[string]actor.Future
	letters  []actor.DeadLetter
	made     map[string]int // chains of middleware
	decided  []restart      // by supervisors
	refs     map[string]actor.Ref
	rules    map[string][]string // what follows on an entry of the log
	gates    map[string]*gate
	timers   map[string]*actor.Timer
	errs     map[string]error       // with which actors have failed last
	injected map[string][]injection // failures that no line has asked about yet
	all      []error                // of all failures
	replies  map[string]actor.ReplyTo
}

// injection is how, and on which message, a script had an actor fail.
type injection struct {
	msg  any // nil for a hook
	kind failureKind
}

// restart is one that a supervisor has decided on: of the actor that failed and, with
// all-for-one, of its siblings.
type restart struct {
	cause error
	n     int // which one of its window it is
}

// play carries out the steps in a new system, whose clock only the script moves.
func (p *performance) play(e *Env, script []scriptLine) {
	p.e, p.clock, p.began = e, actor.NewManualClock(genesis), genesis
	p.made = map[string]int{}
	p.futures, p.calls, p.subs = map[string]actor.Future{}, map[string]pendingCall{}, map[string]subscription{}
	p.refs, p.rules, p.gates = map[string]actor.Ref{}, map[string][]string{}, map[string]*gate{}
	p.timers, p.errs, p.injected = map[string]*actor.Timer{}, map[string]error{}, map[string][]injection{}
	p.replies = map[string]actor.ReplyTo{}
	stream := &actor.EventStream{}
	actor.SubscribeFunc(stream, p.hear)
	config := actor.Config{Clock: p.clock, Events: stream}
	script = p.configure(&config, script)
	p.w = e.world(config)
	defer p.w.abandon()
	p.refs["guardian"], p.refs["zero"] = p.w.UserGuardian(), actor.Ref{}
	for i := range script {
		p.line(&script[i])
	}
	p.e.hasChecked() // before end does
	p.w.end()
}

// line carries out one line; what it finds begins with the line.
func (p *performance) line(l *scriptLine) {
	words := l.words
	p.mu.Lock()
	p.began = p.clock.Now()
	p.mu.Unlock()
	for words[0][0] == '[' { // only for some of what is offered
		end := 0
		wanted := false
		for done := false; !done; end++ {
			w := words[end]
			done = w[len(w)-1] == ']'
			wanted = wanted || slices.Contains(p.values, bare(w))
		}
		if !wanted {
			return
		}
		words = words[end:]
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failure:
			where := ""
			if len(p.values) > 0 {
				where = " with " + quote(p.values)
			}
			panic(failure{errors.New("at “" + quote(words) + "”" + where + ": " + v.err.Error())})
		default:
			panic(v)
		}
	}()
	p.step(words)
}

// step carries out one step from outside. What is no step is an act, without an actor.
func (p *performance) step(words []string) {
	w, args := p.w, words[1:]
	if name := words[0]; name[len(name)-1] == ':' {
		p.does(name[:len(name)-1], args)
		return
	}
	switch words[0] {
	case "repeat": // NUMBER NAME: …; steps from outside
		for range number(args[0]) {
			p.steps(args[1:])
		}
	case "each": // WORD … do STEP; …, with the word in the place of $
		do := slices.Index(args, "do")
		for _, word := range args[:do] {
			p.steps(substitute(args[do+1:], "$", word))
		}
	case "queue": // NAME: …, which does not wait
		p.order(args[0][:len(args[0])-1], args[1:])
	case "when":
		key := args[0] // which ends in a colon
		p.mu.Lock()
		p.rules[key[:len(key)-1]] = args[1:]
		p.mu.Unlock()
	case "spawn":
		under := w.UserGuardian()
		if i := slices.Index(args, "under"); i >= 0 {
			under = p.ref(args[i+1])
			args = slices.Delete(slices.Clone(args), i, i+2)
		}
		w.In(under, func(ctx *actor.Context) { p.spawn(ctx, args) })
	case "hold":
		p.order(args[0], []string{"hold", args[0]})
		w.reached(p.gate(args[0]), 1)
	case "reached":
		w.reached(p.gate(args[0]), 1)
	case "release":
		p.gate(args[0]).open()
		p.mu.Lock()
		delete(p.gates, args[0])
		p.mu.Unlock()
	case "log":
		p.entries(&p.log, args)
	case "events":
		p.entries(&p.events, args)
	case "failed":
		p.failures(args)
	case "forget":
		w.resetFailures()
		p.mu.Lock()
		p.injected = map[string][]injection{}
		p.mu.Unlock()
	case "dead":
		p.dead(args[0], args[1], args[2:])
	case "letters":
		p.deadLetters(args)
	case "kept":
		var got []string
		for _, l := range w.DeadLetters() {
			got = append(got, said(l.Msg))
		}
		p.e.require(slices.Equal(got, args), "the dead letters “", quote(got), "” are kept, want “", quote(args), "”")
	case "resend": // the newest dead letter
		kept := w.DeadLetters()
		l := kept[len(kept)-1]
		if err := l.Resend(); len(args) > 0 {
			w.returned(err, l.To, l.Msg, reasonNamed(p.e, args[0]))
		} else {
			p.e.same("what Resend returned", err, nil)
		}
	case "refuses":
		p.refuses(p.ref(args[0]), args[1], reasonNamed(p.e, args[2]))
	case "gone":
		for _, name := range args {
			w.Gone(p.ref(name))
		}
	case "alive":
		for _, name := range args {
			r := p.ref(name)
			found, ok := w.Find(r.Path())
			known, there := w.Lookup(r.PID())
			p.e.require(ok && there && found == r && known == r, name, " is not found")
		}
	case "stat":
		p.stat(args)
	case "backlog":
		n := func() int { return p.ref(args[0]).Backlog() }
		w.until(args[1]+" messages to wait for "+args[0], func() bool { return n() == number(args[1]) },
			func() string { return text(n(), " messages wait for ", args[0], ", want ", args[1]) })
	case "turns": // [NUMBER+ or NUMBER-] since the last time, at least or at most
		w.idle()
		before := p.turns
		p.turns = int(w.Stats().Turns)
		if len(args) == 0 {
			return
		}
		last := len(args[0]) - 1
		n, want := p.turns-before, number(args[0][:last])
		p.e.require(!p.e.Exact || args[0][last] == '+' && n >= want || args[0][last] == '-' && n <= want, n, " turns, want ", args[0])
	case "made": // NAME NUMBER: so many chains of that middleware
		p.mu.Lock()
		n := p.made[args[0]]
		p.mu.Unlock()
		p.e.require(n == number(args[1]), "middleware ", args[0], " was made ", n, " times, want ", args[1])
	case "time":
		w.pass(p.clock, duration(args[0]))
	case "shutdown":
		w.shutdown()
	case "over":
		if len(args) > 0 {
			w.until("Done to be closed", func() bool { return came(w.Done()) })
			w.over = true
			p.kind.is(p.e, w.Err())
			return
		}
		w.done()
	default:
		if !p.waits(words[0], args) && !p.asking(words[0], args) && !p.subscribing(words[0], args) {
			p.e.same("what an act returned", p.act(&turn{p: p, name: "zero"}, words), nil)
		}
	}
}

// steps carries out steps with semicolons between.
func (p *performance) steps(words []string) {
	for len(words) > 0 {
		var step []string
		step, words = statement(words)
		p.step(step)
	}
}

// does has an actor do something in a turn, and waits until it has, or has failed.
func (p *performance) does(name string, acts []string) {
	done := p.order(name, acts)
	p.w.until(name+" to have done that", func() bool { return came(done) })
	p.w.idle()
}

// order sends an actor what it is to do in a turn; the channel is closed when it has,
// or has failed.
func (p *performance) order(name string, acts []string) chan struct{} {
	done := make(chan struct{})
	var o *order
	o = &order{Do: func(ctx *actor.Context) error {
		defer func() {
			select {
			case <-done: // it is tried again
			default:
				close(done)
			}
		}()
		return p.acts(&turn{p: p, ctx: ctx, name: name, msg: o}, acts)
	}}
	p.w.tell(p.ref(name), o)
	return done
}

// entries demands that since the last time exactly these entries have come. Only what
// one actor does has an order, unless the first word is "ordered"; with "lives" it does
// not matter in which of its lives an actor does it.
func (p *performance) entries(log *eventLog, want []string) {
	how := ""
	if len(want) > 0 && (want[0] == "ordered" || want[0] == "lives") {
		how, want = want[0], want[1:]
	}
	w := p.w
	w.until("“"+quote(want)+"” to be logged", func() bool { return log.unread() >= len(want) },
		func() string {
			return "only “" + quote(log.next()) + "” was logged, want “" + quote(want) + "”"
		})
	w.idle()
	seen := log.next()
	got := slices.Clone(seen)
	if how == "lives" {
		for i, entry := range got {
			who := author(entry)
			for entry = entry[len(who):]; '0' <= entry[0] && entry[0] <= '9'; {
				entry = entry[1:]
			}
			got[i] = who + entry
		}
	}
	if how != "ordered" {
		got, want = byActor(got), byActor(want)
	}
	p.e.require(slices.Equal(got, want), "“", quote(seen), "” was logged, want “", quote(want), "”")
}

// byActor sorts entries by who has made them, and keeps the order of each.
func byActor(entries []string) []string {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b string) int { return cmp.Compare(author(a), author(b)) })
	return entries
}

// failures demands that since the last time these actors have failed, in that order, in
// the way of the script, and that a restart was given the error as its cause.
func (p *performance) failures(who []string) {
	for i, f := range takeAll(p.w, &p.w.failures, len(who), "failures") {
		p.e.require(f.Actor == p.ref(who[i]), "failure ", i+1, " is that of ", f.Actor.Path(), ", want ", who[i])
		p.e.require(!f.Time.IsZero(), "the failure of ", who[i], " has no time")
		p.mu.Lock()
		list := p.injected[who[i]]
		if len(list) > 0 {
			p.injected[who[i]] = list[1:]
		}
		p.mu.Unlock()
		if len(list) > 0 {
			told := list[0]
			told.kind.is(p.e, f.Err)
			p.e.require(f.Msg == told.msg, "the failure of ", who[i], " is said to be on another message")
		} else { // it was told nothing, and so it was no message
			p.e.require(f.Msg == nil, "the failure of ", who[i], " is said to be on a message")
		}
	}
}

// dead demands that these messages to that actor, and no others, have become dead
// letters for the reason; an order is called so.
func (p *performance) dead(reason, to string, msgs []string) {
	var all []any
	for _, m := range msgs {
		all = append(all, p.message(nil, m))
	}
	if reason != "failed" {
		p.w.undelivered(p.ref(to), reasonNamed(p.e, reason), all...)
		return
	}
	for i, l := range takeAll(p.w, &p.w.failedLetters, len(all), "dead letters of failures") {
		_, ordered := l.Msg.(*order)
		p.e.require(l.Msg == all[i] || ordered && msgs[i] == "order", "dead letter ", i+1, " is not ", msgs[i])
		p.e.require(l.To == p.ref(to), "a message that failed is said to be for ", l.To.String(), ", want ", to)
		p.mu.Lock()
		err := p.errs[to]
		p.mu.Unlock()
		p.e.same("the cause of the dead letter", l.Cause, err)
		p.e.require(!l.Time.IsZero(), "the dead letter has no time")
	}
}

// stat demands that the system has counted so much: pairs of a name and a number.
func (p *performance) stat(args []string) {
	for ; len(args) > 1; args = args[2:] {
		get := func() int {
			st := p.w.Stats()
			n, ok := map[string]int{
				"actors": st.Actors, "spawned": int(st.Spawned), "restarts": int(st.Restarts), "failures": int(st.Failures), "failed": int(st.Failed),
				"dead": int(st.DeadLetters), "dropped": int(st.Dropped), "returned": int(st.Returned), "suspends": int(st.Suspends), "resumes": int(st.Resumes),
				"resume-total": int(st.ResumeTotal / time.Second), "resume-max": int(st.ResumeMax / time.Second),
			}[args[0]]
			p.e.require(ok, "there is no counter ", args[0])
			return n
		}
		want := number(args[1])
		p.w.until(text(args[0], " to be ", want), func() bool { return get() == want },
			func() string { return text(args[0], " is counted as ", get(), ", want ", want) })
	}
}
