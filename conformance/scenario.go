package conformance

import (
	"context"
	"errors"
	"slices"
	"strconv"
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

// scriptLine is a line of a script: its text, and its words.
type scriptLine struct {
	text  string
	words []string
}

// lines returns the lines of a script that say something.
func lines(script string) (all []scriptLine) {
	for begin := 0; begin < len(script); {
		end := begin
		for end < len(script) && script[end] != '\n' {
			end++
		}
		if w := words(script[begin:end]); len(w) > 0 {
			all = append(all, scriptLine{script[begin:end], w})
		}
		begin = end + 1
	}
	return all
}

// words splits a line at spaces. A semicolon is a word of its own, a1:2..4 is a1:2 a1:3
// a1:4, and what follows a # is for people.
func words(line string) (all []string) {
	begin := -1
	for i := 0; i <= len(line); i++ {
		if i == len(line) || line[i] == ' ' || line[i] == '\t' || line[i] == ';' || line[i] == '#' {
			if begin >= 0 {
				all = append(all, expand(line[begin:i])...)
			}
			begin = -1
			if i < len(line) && line[i] == ';' {
				all = append(all, ";")
			}
			if i < len(line) && line[i] == '#' {
				break
			}
		} else if begin < 0 {
			begin = i
		}
	}
	return all
}

// expand returns what a word stands for: a1:2..4 is a1:2 a1:3 a1:4.
func expand(word string) (all []string) {
	for end := 1; end+2 < len(word); end++ {
		if word[end:end+2] != ".." {
			continue
		}
		begin := end
		for begin > 0 && '0' <= word[begin-1] && word[begin-1] <= '9' {
			begin--
		}
		for n := number(word[begin:end]); n <= number(word[end+2:]); n++ {
			all = append(all, text(word[:begin], n))
		}
		return all
	}
	return []string{word}
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

// substitute returns words with a value in the place of a variable, once in each word.
func substitute(words []string, variable, value string) []string {
	all := slices.Clone(words)
	for i, w := range all {
		for at := 0; at+len(variable) <= len(w); at++ {
			if end := at + len(variable); w[at:end] == variable {
				all[i] = w[:at] + value + w[end:]
				break
			}
		}
	}
	return all
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

	mu      sync.Mutex // guards what follows, which turns use as well
	began   time.Time  // when the line did
	futures map[string]actor.Future
	letters []actor.DeadLetter
	made    map[string]int // chains of middleware
	counts  map[string]int // of restarts, as a supervisor has decided on an actor
	refs    map[string]actor.Ref
	rules   map[string][]string // what follows on an entry of the log
	gates   map[string]*gate
	timers  map[string]*actor.Timer
	errs    map[string]error    // with which actors have failed last
	mishaps map[string][]mishap // that were not asked for
	all     []error             // of all failures
	replies map[string]actor.ReplyTo
}

// mishap is how, and on which message, an actor was last told to fail.
type mishap struct {
	msg  any // nil for a hook
	kind failureKind
}

// play carries out the steps in a new system, whose clock only the script moves.
func (p *performance) play(e *Env, script []scriptLine) {
	p.e, p.clock, p.began = e, actor.NewManualClock(genesis), genesis
	p.made, p.counts = map[string]int{}, map[string]int{}
	p.futures, p.calls, p.subs = map[string]actor.Future{}, map[string]pendingCall{}, map[string]subscription{}
	p.refs, p.rules, p.gates = map[string]actor.Ref{}, map[string][]string{}, map[string]*gate{}
	p.timers, p.errs, p.mishaps = map[string]*actor.Timer{}, map[string]error{}, map[string][]mishap{}
	p.replies = map[string]actor.ReplyTo{}
	stream := &actor.EventStream{}
	actor.SubscribeFunc(stream, p.hear)
	config := actor.Config{Clock: p.clock, Events: stream}
	script = p.configure(&config, script)
	p.w = e.world(config)
	defer p.w.abandon()
	p.refs["guardian"], p.refs["nobody"] = p.w.UserGuardian(), actor.Ref{}
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

// bare returns a word without brackets.
func bare(word string) string {
	if word[0] == '[' {
		word = word[1:]
	}
	if word[len(word)-1] == ']' {
		word = word[:len(word)-1]
	}
	return word
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
		p.mishaps = map[string][]mishap{}
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
		w.done(nil)
	default:
		if !p.waits(words[0], args) && !p.asking(words[0], args) && !p.subscribing(words[0], args) {
			p.e.same("what an act returned", p.act(&turn{p: p, name: "nobody"}, words), nil)
		}
	}
}

// steps carries out steps with semicolons between.
func (p *performance) steps(words []string) {
	for len(words) > 0 {
		end := slices.Index(words, ";")
		if end < 0 {
			end = len(words)
		}
		p.step(words[:end])
		words = words[min(end+1, len(words)):]
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

// turn is where acts are done: in a turn of an actor, or, if ctx is nil, outside.
type turn struct {
	p    *performance
	ctx  *actor.Context
	name string
	msg  any // that is handled, if it is a message
	next *passing
}

// passing is what middleware, or an invoker, is told to do with a message.
type passing struct {
	keep, forgive bool
	msg           any
	times         int
}

// acts does one act after the other, up to one that fails.
func (p *performance) acts(t *turn, words []string) error {
	for len(words) > 0 {
		end := slices.Index(words, ";")
		rest := []string(nil)
		if end < 0 {
			end = len(words)
		} else {
			rest = words[end+1:]
		}
		if err := p.act(t, words[:end]); err != nil {
			return err
		}
		words = rest
	}
	return nil
}

// act does one act. The error is the actor's.
func (p *performance) act(t *turn, words []string) error {
	ctx, args := t.ctx, words[1:]
	switch words[0] {
	case "tell", "forward", "tell-pid", "tell-ended", "tell-nil":
		p.tell(t, words[0], p.who(t, args[0]), args[1:])
	case "ask": // FUTURE WHO NUMBER [within TIME]
		ask := func(re actor.ReplyTo) any { return petition{number(args[2]), re} }
		if ctx == nil {
			p.setFuture(args[0], p.w.Ask(p.ref(args[1]), within(args), ask))
		} else {
			p.setFuture(args[0], ctx.Ask(p.ref(args[1]), within(args), ask))
		}
	case "pass": // what has been heard, to an actor that may refuse it
		_ = p.ref(args[0]).Tell(t.msg)
	case "say": // LEVEL TEXT
		ctx.Log(map[string]actor.Level{"debug": actor.LevelDebug, "warn": actor.LevelWarn, "error": actor.LevelError}[args[0]], args[1])
	case "keep":
		t.next.keep = true
	case "forgive":
		t.next.forgive = true
	case "instead":
		t.next.msg = p.message(t, args[0])
	case "again":
		t.next.times++
	case "fail":
		kind := p.kind
		if len(args) > 0 {
			kind = failureKindNamed(p.e, args[0])
		}
		p.mu.Lock()
		p.mishaps[t.name] = append(p.mishaps[t.name], mishap{t.msg, kind})
		p.mu.Unlock()
		return kind.fail()
	case "stop":
		switch r := p.who(t, args[0]); {
		case ctx == nil:
			p.w.Stop(r)
		case len(args) > 1 && args[2] == "outside": // stop self by outside
			p.w.Stop(r)
		case r == ctx.Self() && len(args) == 1:
			ctx.StopSelf()
		default:
			ctx.Stop(r)
		}
	case "spawn":
		p.spawn(ctx, args)
	case "watch":
		for _, name := range args {
			ctx.Watch(p.who(t, name))
		}
	case "unwatch":
		for _, name := range args {
			ctx.Unwatch(p.who(t, name))
		}
	case "suspend":
		p.suspend(t, args)
	case "resume":
		if r := p.who(t, args[0]); ctx == nil {
			p.w.Resume(r)
		} else {
			ctx.Resume(r)
		}
	case "stash":
		if len(args) == 0 {
			ctx.Stash(t.msg)
		}
		for _, m := range args {
			ctx.Stash(p.message(t, m))
		}
	case "unstash":
		ctx.UnstashAll()
	case "become":
		ctx.Become(p.behaviour(args[0]))
	case "unbecome":
		p.e.require(ctx.Unbecome() == (len(args) == 0), "Unbecome says the opposite of what it did")
	case "timer", "every":
		p.timer(t, words[0] == "every", args)
	case "cancel":
		p.mu.Lock()
		timer := p.timers[args[0]]
		p.mu.Unlock()
		p.e.require(timer.Stop() == (len(args) == 1), "Stop of timer ", args[0], " said the opposite of whether there was anything to come")
	case "timeout":
		ctx.SetReceiveTimeout(duration(args[0]))
	case "note":
		p.log.note(args[0])
	case "hold":
		p.gate(args[0]).pass()
	case "time":
		p.clock.Advance(duration(args[0]))
	case "exit":
		p.e.fail("an act ends its goroutine by failing: fail Goexit")
	case "publish":
		for _, m := range args {
			p.w.Events().Publish(p.message(t, m))
		}
	case "expect":
		p.expect(t, args)
	case "answer":
		p.answer(t, args)
	default:
		p.e.fail("a script says “", quote(words), "”, which is not understood")
	}
	return nil
}

// tell sends messages, which are accepted, or come back for the reason after the word
// refused.
func (p *performance) tell(t *turn, how string, to actor.Ref, msgs []string) {
	var reason error
	if i := slices.Index(msgs, "refused"); i >= 0 {
		reason = reasonNamed(p.e, msgs[i+1])
		msgs = msgs[:i]
	}
	for _, m := range msgs {
		msg := p.message(t, m)
		var err error
		switch {
		case how == "forward":
			t.ctx.Forward(to, msg)
		case how == "tell-pid":
			err = p.w.Tell(to.PID(), msg)
		case how != "tell":
			var ctx context.Context // nil, which never ends
			if how == "tell-ended" {
				ctx = ended(errStop)
			}
			if t.ctx == nil {
				err = to.TellContext(ctx, msg)
			} else {
				err = t.ctx.TellContext(ctx, to, msg)
			}
		case t.ctx == nil:
			err = to.Tell(msg)
		default:
			err = t.ctx.Tell(to, msg)
		}
		switch {
		case reason == actor.ErrUnknown: // whom it was for is not known
			p.w.returned(err, actor.Ref{}, msg, reason)
		case reason != nil:
			p.w.returned(err, to, msg, reason)
		case err != nil:
			p.e.fail("Tell of ", m, " returned ", err, ", want nil")
		}
	}
}

// refuses waits until an actor takes a message no more: what it still takes has to be a dead
// letter for the same reason.
func (p *performance) refuses(to actor.Ref, word string, reason error) {
	msg := p.message(nil, word)
	p.w.until(to.Path()+" to refuse messages", func() bool {
		err := to.Tell(msg)
		if err == nil {
			p.w.undelivered(to, reason, msg)
			return false
		}
		p.w.returned(err, to, msg, reason)
		return true
	})
}

// suspend suspends an actor: [WHO] [for TIME] [room WHO] [by outside].
func (p *performance) suspend(t *turn, args []string) {
	who, s, outside := p.who(t, args[0]), actor.Suspension{Reason: scriptReason}, false
	for args = args[1:]; len(args) > 1; args = args[2:] {
		switch args[0] {
		case "for":
			s.After = duration(args[1])
		case "room":
			s.Capacity = p.ref(args[1])
		case "by":
			outside = args[1] == "outside"
		default:
			p.e.fail("there is no way to suspend an actor called ", args[0])
		}
	}
	switch {
	case t.ctx != nil && who == t.ctx.Self() && !outside:
		t.ctx.Suspend(s)
	case t.ctx == nil && t.msg == nil && !who.IsZero():
		p.w.suspend(who, s) // and waits until it is
	default:
		p.w.Suspend(who, s)
	}
}

// timer starts a timer: TIME MESSAGE [as NAME].
func (p *performance) timer(t *turn, periodic bool, args []string) {
	d, msg := duration(args[0]), p.message(t, args[1])
	var timer *actor.Timer
	if periodic {
		timer = t.ctx.StartPeriodic(d, msg)
	} else {
		timer = t.ctx.StartTimer(d, msg)
	}
	if len(args) > 3 {
		p.mu.Lock()
		p.timers[args[3]] = timer
		p.mu.Unlock()
	}
}

// expect looks at what an actor sees in its turn.
func (p *performance) expect(t *turn, args []string) {
	ctx, what, args := t.ctx, args[0], args[1:]
	switch what {
	case "children": // exactly these, the newest first
		var got []string
		for r := range ctx.Children() {
			got = append(got, r.Name())
		}
		p.e.require(slices.Equal(got, args), "the children of ", t.name, " are “", quote(got), "”, want “", quote(args), "”")
	case "child":
		r, ok := ctx.Child(args[0])
		p.e.require(ok && r == p.ref(args[0]), t.name, " has no child ", args[0])
	case "childless":
		_, ok := ctx.Child(args[0])
		p.e.require(!ok, t.name, " has a child ", args[0])
	case "place": // its own Ref and its parent's
		p.e.require(ctx.Self() == p.ref(t.name) && ctx.Parent() == p.ref(args[0]), "Self is ", ctx.Self().Path(), " and Parent ", ctx.Parent().Path(),
			", want ", t.name, " and ", args[0])
	case "stashed":
		p.e.require(ctx.Stashed() == number(args[0]), ctx.Stashed(), " messages are stashed, want ", args[0])
	case "gone":
		p.e.require(!p.w.Alive(p.ref(args[0])), args[0], " is found")
	default:
		p.e.fail("a script expects ", what, ", which is not understood")
	}
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
	slices.SortStableFunc(entries, func(a, b string) int {
		x, y := author(a), author(b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return entries
}

// author returns the name that an entry begins with, without the number of the life.
func author(entry string) string {
	end := 0
	for end < len(entry) && entry[end] != '.' && entry[end] != ':' && entry[end] != '-' {
		end++
	}
	for end > 0 && '0' <= entry[end-1] && entry[end-1] <= '9' {
		end--
	}
	return entry[:end]
}

// failures demands that since the last time these actors have failed, in that order, in
// the way of the script, and that a restart was given the error as its cause.
func (p *performance) failures(who []string) {
	for i, f := range takeAll(p.w, &p.w.failures, len(who), "failures") {
		p.e.require(f.Actor == p.ref(who[i]), "failure ", i+1, " is that of ", f.Actor.Path(), ", want ", who[i])
		p.e.require(!f.Time.IsZero(), "the failure of ", who[i], " has no time")
		p.mu.Lock()
		list := p.mishaps[who[i]]
		if len(list) > 0 {
			p.mishaps[who[i]] = list[1:]
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
			switch args[0] {
			case "actors":
				return st.Actors
			case "spawned":
				return int(st.Spawned)
			case "restarts":
				return int(st.Restarts)
			case "failures":
				return int(st.Failures)
			case "failed":
				return int(st.Failed)
			case "dead":
				return int(st.DeadLetters)
			case "dropped":
				return int(st.Dropped)
			case "returned":
				return int(st.Returned)
			case "suspends":
				return int(st.Suspends)
			case "resumes":
				return int(st.Resumes)
			case "resume-total": // in seconds, like the next
				return int(st.ResumeTotal / time.Second)
			case "resume-max":
				return int(st.ResumeMax / time.Second)
			}
			p.e.fail("there is no counter ", args[0])
			return 0
		}
		want := number(args[1])
		p.w.until(text(args[0], " to be ", want), func() bool { return get() == want },
			func() string { return text(args[0], " is counted as ", get(), ", want ", want) })
	}
}

// answer replies in a turn: QUESTION VALUE [late].
func (p *performance) answer(t *turn, args []string) {
	p.mu.Lock()
	re := p.replies[args[0]]
	p.mu.Unlock()
	msg := p.message(t, args[1])
	err := t.ctx.Reply(re, msg)
	if len(args) > 2 {
		p.w.tooLate(err, msg)
	} else {
		p.e.same("what Reply returned", err, nil)
	}
}

// who returns the actor of that name, in a turn.
func (p *performance) who(t *turn, name string) actor.Ref {
	if name == "self" {
		return t.ctx.Self()
	}
	return p.ref(name)
}

// ref returns the actor of that name that was spawned last.
func (p *performance) ref(name string) actor.Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.refs[name]
	p.e.require(ok, "there is no actor ", name, " in the script")
	return r
}

// gate returns the gate of that name; it is a new one after a release.
func (p *performance) gate(name string) *gate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates[name] == nil {
		p.gates[name] = p.e.gate()
	}
	return p.gates[name]
}

// behaviour logs what it is told with a name of its own.
func (p *performance) behaviour(name string) actor.ReceiveFunc {
	return func(ctx *actor.Context, msg any) error {
		if o, ok := msg.(*order); ok {
			return o.Do(ctx)
		}
		return p.happens(&turn{p: p, ctx: ctx, name: ctx.Self().Name(), msg: msg}, name, ":"+said(msg))
	}
}

// happens logs what happens to an actor, and does what the script has follow on it.
func (p *performance) happens(t *turn, who, what string) error {
	p.log.note(who, what)
	return p.follow(t, who, what)
}

func (p *performance) follow(t *turn, who, what string) error {
	p.mu.Lock()
	acts, ok := p.rules[who+what]
	if !ok {
		acts = p.rules[author(who+".")+what] // whichever life it is
	}
	p.mu.Unlock()
	return p.acts(t, acts)
}

// said is the text of a message in the log.
func said(msg any) string {
	switch msg := msg.(type) {
	case actor.Terminated:
		if msg.Err != nil {
			return msg.Actor.Name() + ".failed"
		}
		return msg.Actor.Name() + ".gone"
	case actor.ReceiveTimeout:
		return "silence"
	case petition:
		return text(msg.n, "?")
	case *order:
		return "order"
	case actor.DeadLetter:
		return "letter"
	case ranked:
		return msg.text()
	case error:
		switch msg {
		case errA:
			return "error-A"
		case errB:
			return "error-B"
		}
	}
	if entry, _, _ := eventText(msg); entry != "" {
		return entry
	}
	return text(msg)
}

// number is a word as a number.
func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(failure{errors.New(word + " is no number")})
	}
	return n
}

// message is a word as a message: a number if it is one, and with a question mark a
// question of the actor whose turn it is, of the guardian outside.
func (p *performance) message(t *turn, word string) any {
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	if before, after, ok := cutNumbers(word); ok { // a priority and a number
		return ranked{before, after}
	}
	switch last := len(word) - 1; {
	case word == "nil":
		return nil
	case word == "error-A":
		return errA
	case word == "error-B":
		return errB
	case len(word) > 4 && word[:4] == "box:":
		return crate{p.message(t, word[4:])}
	case word[last] == '?' && t != nil && t.ctx != nil:
		return petition{number(word[:last]), t.ctx.Self().ReplyTo()}
	case word[last] == '?':
		return petition{number(word[:last]), p.w.UserGuardian().ReplyTo()}
	}
	return word
}

// cutNumbers returns the numbers before and after a point.
func cutNumbers(word string) (before, after int, ok bool) {
	for i := range word {
		if word[i] == '.' {
			before, err := strconv.Atoi(word[:i])
			after, err2 := strconv.Atoi(word[i+1:])
			return before, after, err == nil && err2 == nil
		}
	}
	return 0, 0, false
}

// duration is a word as a time, such as 10s; 10s-1ns is a nanosecond less, and ever is
// what has no end.
func duration(word string) time.Duration {
	if word == "ever" {
		return -1
	}
	for i := 1; i < len(word); i++ {
		if word[i] == '-' || word[i] == '+' {
			d := duration(word[i+1:])
			if word[i] == '-' {
				d = -d
			}
			return duration(word[:i]) + d
		}
	}
	d, err := time.ParseDuration(word)
	if err != nil {
		panic(failure{errors.New(word + " is no time")})
	}
	return d
}

// reasons are the errors that words of scripts stand for.
var reasons = []struct {
	word string
	err  error
}{
	{"stopped", actor.ErrStopped},
	{"stopping", actor.ErrStopping},
	{"full", actor.ErrFull},
	{"dropped", actor.ErrDropped},
	{"failed", actor.ErrFailed},
	{"unknown", actor.ErrUnknown},
	{"nobody", actor.ErrNobody},
	{"late", actor.ErrLate},
	{"taken", actor.ErrTaken},
	{"timeout", actor.ErrTimeout},
	{"over", actor.ErrOver},
	{"name-taken", actor.ErrNameTaken},
	{"bad-name", actor.ErrBadName},
	{"unsubscribed", actor.ErrUnsubscribed},
	{"canceled", context.Canceled},
	{"error", errA},
}

func reasonNamed(e *Env, word string) error {
	for _, r := range reasons {
		if r.word == word {
			return r.err
		}
	}
	e.fail("there is no reason ", word)
	return nil
}

// reasonWord returns the word for an error, or its text if there is none.
func reasonWord(err error) string {
	for _, r := range reasons {
		if r.err == err {
			return r.word
		}
	}
	return text(err)
}
