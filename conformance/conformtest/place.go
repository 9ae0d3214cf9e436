package conformtest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/internal/idle"
)

// patience bounds one run of a check in real time. A check takes milliseconds;
// the bound is for implementations that spin or lock themselves up, and must
// not be reached on a machine that is busy with other things.
const patience = 60 * time.Second

// waits bounds one wait of a check outside a bubble, where it is not known that nothing
// more happens: so the clause that finds a hang says what it has waited for, and goes on
// to the next one. It is for what neither rests nor shows that it spins.
const waits = 15 * time.Second

// What a check of a clause waits for takes the processors a quarter of a second at most, under
// the race detector. When the program has used spinTime since the check last made a demand,
// something spins. With many processors that is soon: they are given spinLooks ticks at least.
// Processor time, since a busy machine, or one that stands still, gives none.
const (
	spinTime  = 3 * time.Second
	spinLooks = 20
)

// lookout looks at a check in ticks, restPause apart, of a ticker that leaves out what it is
// late for: time for which the process was stopped, or the machine, is not the implementation's.
type lookout struct {
	e     *conformance.Env
	limit time.Duration // of the check
	ran   time.Duration

	brief    bool                 // the check is one that takes milliseconds: only of these is known what spins
	terse    bool                 // who asks does not look at stacks
	demands  func() int64         // of the check so far
	work     func() time.Duration // of the processors for the program so far
	patience int                  // in ticks: spinLooks

	demanded int64         // when it was last looked at
	worked   time.Duration // when demands last grew
	looks    int           // since then
	rests    int           // since then: how often all was at rest, less how often it was not
	spins    atomic.Bool   // so that the check can find it, too
}

// newLookout begins to look. A check that takes as long as it needs is not brief.
func newLookout(limit time.Duration, e *conformance.Env, brief bool) *lookout {
	return &lookout{
		e: e, limit: limit, brief: brief && canTellBurnt, demands: e.Checked, work: processorTime,
		patience: spinLooks, worked: processorTime(),
	}
}

// look is called at each tick, and returns what is wrong, "" if nothing is. The check hears
// of what spins first, since it can say more.
func (l *lookout) look() string {
	if l.ran += restPause; l.ran >= l.limit {
		return fmt.Sprintf("was not over after %v: something spins, or holds a lock", l.limit)
	}
	now, n := l.work(), l.demands()
	if l.looks++; n != l.demanded {
		l.demanded, l.worked, l.looks, l.rests = n, now, 0, 0
	}
	if !l.brief {
		return ""
	}
	burnt := now - l.worked
	l.spins.Store(burnt >= spinTime && l.looks >= l.patience)
	if burnt >= spinTime*4/3 && l.looks >= l.patience*4/3 {
		return fmt.Sprintf("does not go on: something spins, for %v of the processors so far", burnt.Round(time.Millisecond))
	}
	return ""
}

// Outside a bubble a check that is in a call that does not return is given up when nothing ran
// at restLooks ticks since it last went on: sooner than that its clauses wait for nothing.
const (
	restPause = 100 * time.Millisecond
	restLooks = 40
)

// rest is called after look, outside a bubble, with whether no goroutine runs or could run. It
// returns what is wrong, "" if nothing is. A long check may well rest at each of its many steps.
func (l *lookout) rest(atRest bool) string {
	if !atRest {
		l.rests = max(0, l.rests-1)
		return ""
	}
	if l.rests++; l.rests >= restLooks {
		return "hangs: no goroutine runs or could run"
	}
	return ""
}

// inBubble runs check in a synctest bubble.
//
// When everything in a bubble is blocked for ever, synctest.Test panics, on the
// goroutine that called it. That is recovered here and made the check's error:
// the goroutines stay blocked, which costs their memory and nothing else.
func inBubble(t *testing.T, watch *lookout, check func(*conformance.Env) error) error {
	e := watch.e
	var (
		id  atomic.Value // string, of the bubble; nil until it is known
		err error        // what the check returned
	)
	stacks := func() []byte { return stacksOf(id.Load()) }
	if watch.terse {
		stacks = func() []byte { return nil }
	}
	returned := make(chan struct{}) // the check returned, and err may be read
	dead := make(chan any, 1)       // the bubble is over; the reason if it deadlocked
	go func() {
		defer func() { dead <- recover() }() // also if synctest.Test ends this goroutine
		synctest.Test(t, func(*testing.T) {
			id.Store(bubbleID())
			e.Settle, e.Exact = synctest.Wait, true
			e.Stacks = stacks
			err = <-alone(e, check)
			// A bubble's clock runs while all wait: what waits for a time-out
			// before it ends gets it now.
			time.Sleep(time.Hour)
			close(returned)
		})
	}()
	var deadlock any
	look := time.NewTicker(restPause)
	defer look.Stop()
	for over := false; !over; {
		select {
		case deadlock = <-dead:
			over = true
		case <-look.C:
			if wrong := watch.look(); wrong != "" {
				return hung(e, wrong, stacks())
			}
		}
	}
	select {
	case <-returned:
	default:
		if deadlock == nil {
			return errors.New("the bubble ended before the check did")
		}
		return hung(e, "hangs: every goroutine waits, and nothing will wake one", stacks())
	}
	if err == nil && deadlock != nil {
		left := bubbleStacks(id.Load())
		return fmt.Errorf("%d goroutines are left for ever when the check is over:\n%s", len(left), bytes.Join(left[:min(len(left), 10)], []byte("\n\n")))
	}
	return err
}

// outside runs check, which may take as long as it needs, on ordinary goroutines.
func outside(limit time.Duration, e *conformance.Env, check func(*conformance.Env) error) error {
	return onGoroutines(newLookout(limit, e, false), check)
}

// onGoroutines runs check on ordinary goroutines.
//
// A check that was given up ends when it next settles: if it went on it would use
// processors and memory that the checks after it look at.
func onGoroutines(watch *lookout, check func(*conformance.Env) error) error {
	e := watch.e
	var givenUp, spun atomic.Bool
	e.Settle = func() {
		if !watch.brief {
			idle.Wait()
		} else if !idle.WaitUnless(func() bool { return givenUp.Load() || watch.spins.Load() }) {
			spun.Store(true)
			runtime.Goexit()
		}
		if givenUp.Load() {
			runtime.Goexit()
		}
	}
	e.Exact, e.Patience, e.Stacks, e.AtRest, e.Spins = false, min(watch.limit, waits), allStacks, idle.Now, watch.spins.Load
	done := alone(e, check)
	look := time.NewTicker(restPause)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			if spun.Load() {
				return hung(e, "is never at rest: something spins", allStacks())
			}
			return err
		case <-look.C:
			if wrong := cmp.Or(watch.look(), watch.rest(idle.Now())); wrong != "" {
				givenUp.Store(true)
				return hung(e, wrong, allStacks())
			}
		}
	}
}

// outside runs a clause's check on ordinary goroutines.
func (s *suite) outside(limit time.Duration, check func(*conformance.Env) error) outcome {
	return outcome{err: outside(limit, s.env(s.set.seed), check), seed: s.set.seed}
}

// noting is outside for a check that has something to note. If it is not over in
// time it may be noting still, and what it has noted is left to it.
func (s *suite) noting(limit time.Duration, check func(*conformance.Env) ([]string, error)) outcome {
	noted := make(chan []string, 1)
	o := s.outside(limit, func(e *conformance.Env) error {
		n, err := check(e)
		noted <- n
		return err
	})
	select {
	case o.notes = <-noted:
	default:
	}
	return o
}

// alone runs check on a goroutine of its own, which it may end or panic on.
func alone(e *conformance.Env, check func(*conformance.Env) error) <-chan error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the goroutine of the check was ended by runtime.Goexit")
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("the check panicked: %v\n%s", v, debug.Stack())
			}
			done <- err
		}()
		err = check(e)
	}()
	return done
}

func hung(e *conformance.Env, how string, stacks []byte) error {
	what := "the check " + how
	if doing := e.Doing(); doing != "" {
		what += "; it waits for " + doing
	}
	return fmt.Errorf("%s\n%s", what, stacks)
}

// bubbleTag begins the stack of a goroutine in a bubble. Behind the bracket may be labels, of any length.
var bubbleTag = regexp.MustCompile(`^goroutine \d+ [^\n\[]*\[[^\n\]]*synctest bubble (\d+)[^\n\]]*\]`)

// bubbleID returns the number of the bubble that the caller is in.
func bubbleID() string {
	buf := make([]byte, 256)
	if m := bubbleTag.FindSubmatch(buf[:runtime.Stack(buf, false)]); m != nil {
		return string(m[1])
	}
	return ""
}

// bubbleStacks returns the stacks of the goroutines of a bubble, but for those
// that are package testing's own. id is what bubbleID returned; nil finds none.
func bubbleStacks(id any) [][]byte {
	var stacks [][]byte
	for g := range bytes.SplitSeq(bytes.TrimSpace(allStacks()), []byte("\n\n")) {
		m := bubbleTag.FindSubmatch(g)
		if m == nil || string(m[1]) != id || bytes.Contains(g, []byte("\ntesting/synctest.testingSynctestTest(")) {
			continue
		}
		stacks = append(stacks, g)
	}
	return stacks
}

func stacksOf(id any) []byte { return bytes.Join(bubbleStacks(id), []byte("\n\n")) }

// allStacks returns the stacks of all goroutines.
func allStacks() []byte {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || len(buf) >= 64<<20 {
			return buf[:n]
		}
		buf = make([]byte, 2*len(buf))
	}
}
