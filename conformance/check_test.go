package conformance

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/serial"
)

// found returns what a check finds of serial.
func found(t *testing.T, check func(e *Env) error) (err error) {
	synctest.Test(t, func(*testing.T) {
		err = check(&Env{Impl: serial.Impl, Settle: synctest.Wait, Exact: true})
	})
	return err
}

// TestCheckThatChecksNothing: a check that demands nothing of what it has seen fails,
// whether it is about groups, actors or tasks.
func TestCheckThatChecksNothing(t *testing.T) {
	for what, check := range map[string]func(e *Env) error{
		"a group": check(func(e *Env) { e.Impl.NewGroup(context.Background()).Close() }),
		"actors":  actors(func(w *world) { w.Stats() }),
		"a clock": clocked(func(_ *world, clock *actor.ManualClock) { clock.Advance(1) }),
		"tasks":   tasks(func(r *runner) { r.x.Pending() }),
		"script":  play("# nothing"),
	} {
		if err := found(t, check); err == nil || !strings.Contains(err.Error(), "without having checked anything") {
			t.Errorf("a check of %s that checks nothing returned %v", what, err)
		}
	}
	if err := found(t, check(func(e *Env) { e.require(true) })); err != nil {
		t.Errorf("a check that checks something returned %v", err)
	}
}

// TestScripts: what is not as a script says, and what a script does not say in the
// words there are, fails with the line.
func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		"spawn a\nlog a1.start":                                  "",
		"spawn a\nlog a1.stop":                                   "at “log a1.stop”: “a1.start” was logged, want “a1.stop”",
		"spawn a quiet\nlog a1.start":                            "only “” was logged, want “a1.start”",
		"spawn a\nlog":                                           "at “log”: “a1.start” was logged, want “”",
		"spawn a\nspawn b\nlog b1.start a1.start":                "",
		"spawn a\nspawn b\nlog ordered b1.start a1.start":        "“a1.start b1.start” was logged",
		"spawn a\ntell a 1 2\nlog lives a.start a:1 a:2":         "",
		"spawn a\ntell a 1 2\nlog a1.start a1:2 a1:1":            "was logged",
		"for x in 1 2 3\nspawn a\nstat actors 4":                 "",
		"for x in 1 2 3\nspawn a\n[2 3] stat actors 5":           "at “stat actors 5” with 2: ",
		"spawn a\na: fail\nfailed a":                             "",
		"spawn a\na: fail\ngone a":                               "failed with “error A”, which it should not",
		"spawn a\na: fail\nfailed a a":                           "want 2",
		"spawn a\nsuspend a\ntell a 1\nstop a\ngone a":           "became a dead letter, which it should not",
		"spawn a\nsuspend a\ntell a 1\nstop a\ndead stopped a 2": "dead letter 1 is 1, want 2",
		"future f\nanswer f 1\nreply f 2":                        "a reply is 1, want 2",
		"future f\nended f over":                                 "want nil, true",
		"spawn a\na: expect children b":                          "the children of a are “”, want “b”",
		"spawn a\nevents ordered a.stopped":                      "a.started",
		"spawn a\nbacklog a 1":                                   "want 1",
		"spawn a\nstop a\ngone a\nalive a":                       "a is not found",
		"sing a":                                                 "is not understood",
		"spawn a loudly":                                         "no way to spawn an actor",
		"tell b 1":                                               "there is no actor b",
	} {
		err := found(t, play(script))
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", script, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q returned %v, want …%s…", script, err, want)
		}
	}
}
