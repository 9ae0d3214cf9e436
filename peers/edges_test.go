package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"
)

// An edge is a question about a peer, and what each peer does: found out by a run.
type edge struct {
	asks     string
	by       map[string]func() string // by name of the peer
	surprise string                   // the peers whose users would not expect it, by name
}

// A batch is some tasks as a peer's users write it: at most limit at once, and a wait for all.
type batch struct {
	add  func(func() error)
	wait func() error
}

// batches make them, by name of the peer.
var batches = map[string]func(ctx context.Context, limit int) batch{
	"errgroup": func(ctx context.Context, limit int) batch {
		g, _ := errgroup.WithContext(ctx)
		g.SetLimit(limit)
		return batch{g.Go, g.Wait}
	},
	"conc": func(ctx context.Context, limit int) batch {
		p := pool.New().WithContext(ctx).WithMaxGoroutines(limit).WithCancelOnError().WithFirstError()
		return batch{func(f func() error) { p.Go(func(context.Context) error { return f() }) }, p.Wait}
	},
	"pond": func(ctx context.Context, limit int) batch {
		g := pond.NewPool(limit).NewGroupContext(ctx)
		return batch{func(f func() error) { g.SubmitErr(f) }, g.Wait}
	},
	"ants": func(_ context.Context, limit int) batch {
		p := newAnts(limit)
		var all sync.WaitGroup
		return batch{func(f func() error) {
			all.Add(1)
			_ = p.Submit(func() { defer all.Done(); _ = f() })
		}, func() error { all.Wait(); return nil }}
	},
}

func newAnts(limit int, options ...ants.Option) *ants.Pool {
	p, err := ants.NewPool(limit, append(options, ants.WithLogger(log.New(io.Discard, "", 0)))...)
	if err != nil {
		panic(err)
	}
	return p
}

// ofAll asks each peer that has batches.
func ofAll(ask func(open func(ctx context.Context, limit int) batch) string) map[string]func() string {
	by := make(map[string]func() string)
	for name, open := range batches {
		by[name] = func() string { return ask(open) }
	}
	return by
}

var (
	errTask = errors.New("its error")
	succeed = func() error { return nil }
)

// outcome says how a wait ends.
func outcome(wait func() error) (says string) {
	defer func() {
		if p := recover(); p != nil {
			says = "`Wait` panics with it"
		}
	}()
	switch err := wait(); {
	case err == nil:
		return "`Wait` is nil"
	case errors.Is(err, errTask), strings.Contains(err.Error(), "boom"):
		return "`Wait` returns it"
	case errors.Is(err, context.Canceled):
		return "`Wait` is `context.Canceled`"
	default:
		return "`Wait` is " + err.Error()
	}
}

// begun starts f, and reports in time whether it has returned.
func begun(f func()) (returned func() bool) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return func() bool {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

var groupEdges = []edge{
	{asks: "a task panics", by: ofAll(func(open func(context.Context, int) batch) string {
		b, others := open(context.Background(), 1), false
		b.add(func() error { panic("boom") })
		b.add(func() error { others = true; return nil })
		says := outcome(b.wait)
		return says + either(others, ", the next task runs", ", the next task does not run")
	}), surprise: "ants"},
	{asks: "a task ends by `runtime.Goexit`", by: ofAll(func(open func(context.Context, int) batch) string {
		b, others := open(context.Background(), 1), false
		b.add(func() error { runtime.Goexit(); return nil })
		b.add(func() error { others = true; return nil })
		says := outcome(b.wait)
		return says + either(others, ", the next task runs", ", the next task does not run")
	}), surprise: "errgroup conc pond ants"},
	{asks: "a task fails, others wait behind it", by: ofAll(func(open func(context.Context, int) batch) string {
		b, ran := open(context.Background(), 1), 0
		b.add(func() error { return errTask })
		for range 3 {
			b.add(func() error { ran++; return nil })
		}
		says := outcome(b.wait)
		return fmt.Sprintf("%s, %d of 3 run", says, ran)
	})},
	{asks: "a task fails, another runs", by: ofAll(func(open func(context.Context, int) batch) string {
		b, release := open(context.Background(), 2), make(chan struct{})
		b.add(func() error { <-release; return nil })
		b.add(func() error { return errTask })
		returned := begun(func() { _ = b.wait() })
		early := returned()
		close(release)
		return either(early, "`Wait` returns before that has ended", "`Wait` waits for it")
	})},
	{asks: "a task is added when as many run as may", by: ofAll(func(open func(context.Context, int) batch) string {
		b, release := open(context.Background(), 1), make(chan struct{})
		b.add(func() error { <-release; return nil })
		returned := begun(func() { b.add(succeed) })
		early := returned()
		close(release)
		return either(early, "it is queued", "the caller waits")
	})},
	{asks: "a task adds one when as many run as may", by: ofAll(func(open func(context.Context, int) batch) string {
		b, ran := open(context.Background(), 1), false
		b.add(func() error { b.add(func() error { ran = true; return nil }); return nil })
		synctest.Wait()
		says := strings.ReplaceAll(outcome(b.wait), "panics with it", "panics")
		return either(ran, "it runs", "both wait; "+says)
	})},
	{asks: "the context ends while a task runs and another waits", by: ofAll(func(open func(context.Context, int) batch) string {
		ctx, cancel := context.WithCancel(context.Background())
		b, release, ran := open(ctx, 1), make(chan struct{}), false
		b.add(func() error { <-release; return nil })
		returned := begun(func() { b.add(func() error { ran = true; return nil }) })
		returned()
		cancel()
		synctest.Wait()
		close(release)
		synctest.Wait()
		says := outcome(b.wait)
		return says + either(ran, ", it runs", ", it does not run")
	})},
	{asks: "a task is added after `Wait`", by: ofAll(func(open func(context.Context, int) batch) string {
		b := open(context.Background(), 1)
		b.add(succeed)
		return afterWait(b)
	})},
	{asks: "a task is added after an error and `Wait`", by: ofAll(func(open func(context.Context, int) batch) string {
		b := open(context.Background(), 1)
		b.add(func() error { return errTask })
		return afterWait(b)
	}), surprise: "pond"},
	{asks: "`Wait` a second time", by: ofAll(func(open func(context.Context, int) batch) string {
		b := open(context.Background(), 1)
		b.add(func() error { return errTask })
		_ = b.wait()
		return strings.ReplaceAll(outcome(b.wait), "panics with it", "panics")
	})},
	{asks: "one worker, tasks of one caller", by: ofAll(func(open func(context.Context, int) batch) string {
		b, release := open(context.Background(), 1), make(chan struct{})
		var order []int
		b.add(func() error { <-release; return nil })
		returned := begun(func() {
			for i := range 50 {
				b.add(func() error { order = append(order, i); return nil })
			}
		})
		returned()
		close(release)
		synctest.Wait()
		_ = b.wait()
		return either(slices.IsSorted(order) && len(order) == 50, "run in order", fmt.Sprint("run in another order: ", order))
	})},
	{asks: "results", by: map[string]func() string{
		"conc": func() string {
			p := pool.NewWithResults[int]().WithErrors()
			release := make(chan struct{})
			p.Go(func() (int, error) { <-release; return 1, nil })
			p.Go(func() (int, error) { close(release); return 2, nil })
			p.Go(func() (int, error) { return 3, errTask })
			all, _ := p.Wait()
			return fmt.Sprintf("as tasks end, of those without an error: %d of 3", len(all))
		},
		"pond": func() string {
			g := pond.NewResultPool[int](1).NewGroup()
			g.SubmitErr(func() (int, error) { return 1, nil }, func() (int, error) { return 2, errTask }, func() (int, error) { return 3, nil })
			all, _ := g.Wait()
			return "in order of submission; with an error in the second of three: `" + fmt.Sprint(all) + "`"
		},
	}, surprise: "pond"},
	{asks: "the limit is changed while tasks run", by: map[string]func() string{
		"errgroup": func() string {
			g, release := new(errgroup.Group), make(chan struct{})
			g.SetLimit(1)
			g.Go(func() error { <-release; return nil })
			return changed(func() { g.SetLimit(2) }, g.Go, release)
		},
		"conc": func() string {
			p, release := pool.New().WithErrors().WithMaxGoroutines(1), make(chan struct{})
			p.Go(func() error { <-release; return nil })
			return changed(func() { p.WithMaxGoroutines(2) }, p.Go, release)
		},
		"pond": func() string {
			p, release := pond.NewPool(1), make(chan struct{})
			p.SubmitErr(func() error { <-release; return nil })
			return changed(func() { p.Resize(2) }, func(f func() error) { p.SubmitErr(f) }, release)
		},
		"ants": func() string {
			p, release := newAnts(1), make(chan struct{})
			_ = p.Submit(func() { <-release })
			return changed(func() { p.Tune(2) }, func(f func() error) { _ = p.Submit(func() { _ = f() }) }, release)
		},
	}},
	{asks: "a queue for one is full", by: map[string]func() string{
		"errgroup": func() string { return "has no queue" },
		"conc":     func() string { return "has no queue" },
		"pond": func() string {
			says := make([]string, 2)
			for i, nonBlocking := range []bool{false, true} {
				p, release := pond.NewPool(1, pond.WithQueueSize(1), pond.WithNonBlocking(nonBlocking)), make(chan struct{})
				p.Submit(func() { <-release })
				synctest.Wait()
				p.Submit(func() {})
				var task pond.Task
				if returned := begun(func() { task = p.Submit(func() {}) }); !returned() {
					says[i] = "the caller waits"
				} else {
					says[i] = "`Submit` returns a task whose `Wait` is " + fmt.Sprint(task.Wait())
				}
				close(release)
				synctest.Wait()
			}
			return says[0] + "; `WithNonBlocking`: " + says[1]
		},
		"ants": func() string {
			p, release := newAnts(1, ants.WithMaxBlockingTasks(1)), make(chan struct{})
			_ = p.Submit(func() { <-release })
			begun(func() { _ = p.Submit(func() {}) })()
			err := p.Submit(func() {})
			close(release)
			synctest.Wait()
			return "one caller waits, the next gets: " + fmt.Sprint(err)
		},
	}},
	{asks: "the pool stops while a task runs, one is queued, and a caller waits to add one", by: map[string]func() string{
		"errgroup": func() string { return "cannot be stopped" },
		"conc":     func() string { return "cannot be stopped" },
		"pond": func() string {
			p, release := pond.NewPool(1, pond.WithQueueSize(1)), make(chan struct{})
			queued := false
			p.Submit(func() { <-release })
			synctest.Wait()
			p.Submit(func() { queued = true })
			var err error
			sent := begun(func() { err = p.Go(func() {}) })
			sent()
			stopped := begun(func() { p.StopAndWait() })
			stopped()
			close(release)
			end := stopped()
			return either(end, "", "the stop waits for ever; ") + either(queued, "the queued one runs", "the queued one does not run") +
				either(sent(), "; the caller gets: "+fmt.Sprint(err), "; the caller waits for ever")
		},
		"ants": func() string {
			p, release := newAnts(1), make(chan struct{})
			_ = p.Submit(func() { <-release })
			var err error
			sent := begun(func() { err = p.Submit(func() {}) })
			sent()
			p.Release()
			early := sent()
			close(release)
			return either(early, "the caller gets at once: ", "the caller gets, when the task has ended: ") + either(sent(), fmt.Sprint(err), "nothing")
		},
	}},
}

// afterWait says what adding a task after Wait does.
func afterWait(b batch) (says string) {
	defer func() {
		if recover() != nil {
			says = "panics"
		}
	}()
	_ = b.wait()
	ran := false
	b.add(func() error { ran = true; return nil })
	synctest.Wait()
	return either(ran, "it runs", "it does not run, and nothing says so")
}

// changed says what changing the limit from one to two does while a task runs until release.
func changed(change func(), add func(func() error), release chan struct{}) (says string) {
	defer func() {
		if p := recover(); p != nil {
			close(release)
			says = "panics"
		}
	}()
	change()
	ran := false
	begun(func() { add(func() error { ran = true; return nil }) })()
	says = either(ran, "holds at once", "holds later")
	close(release)
	synctest.Wait()
	return says
}

// edgeKey has TestEdge of a child ask one question of one peer: its number and the peer's name.
const edgeKey = "DYNO_EDGE"

func edgesOf(kind string) []edge {
	if kind == "actors" {
		return actorEdges
	}
	return groupEdges
}

// TestEdge is for children of TestEdges.
func TestEdge(t *testing.T) {
	var (
		kind, peer string
		i          int
	)
	if _, err := fmt.Sscan(os.Getenv(edgeKey), &kind, &i, &peer); err != nil {
		t.Skip("there is no question")
	}
	answer := func(text string) {
		fmt.Printf("answer: %s\n", text)
		os.Exit(0) // what a peer leaves behind may go on for ever
	}
	synctest.Test(t, func(*testing.T) {
		// Time is of the bubble: it passes when all wait.
		time.AfterFunc(24*time.Hour, func() { answer("`Wait` never returns") })
		answer(edgesOf(kind)[i].by[peer]())
	})
}

var answered = regexp.MustCompile(`(?m)^answer: (.+)$`)

// ask asks in a process of its own: a task that panics may end it.
func ask(ctx context.Context, kind string, i int, peer string) string {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestEdge$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", edgeKey, kind, i, peer))
	out, err := cmd.CombinedOutput()
	if found := answered.FindSubmatch(out); found != nil {
		return string(found[1])
	}
	if strings.Contains(string(out), "panic: boom") {
		return "the process ends"
	}
	return fmt.Sprintf("?? %v: %.200q", err, out)
}

// TestEdges compares the tables of results/peers-edges.md with what peers do. They are what others'
// releases do, which change only with go.mod.
func TestEdges(t *testing.T) {
	if os.Getenv("DYNO_NIGHTLY") == "" && os.Getenv(updateKey) == "" {
		t.Skip("with DYNO_NIGHTLY or " + updateKey + " only")
	}
	const page = "../results/peers-edges.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	is := string(text)
	for _, kind := range []string{"groups", "actors"} {
		begin, end := "<!-- "+kind+" begin -->\n", "<!-- "+kind+" end -->"
		before, rest, begins := strings.Cut(is, begin)
		_, after, ends := strings.Cut(rest, end)
		if !begins || !ends {
			t.Fatalf("%s has no place for the table of %s", page, kind)
		}
		is = before + begin + edgeTable(t, kind) + end + after
	}
	switch {
	case is == string(text):
	case os.Getenv(updateKey) == "":
		t.Errorf("%s is not current; %s=1 go test -run TestEdges . writes\n%s", page, updateKey, is)
	default:
		if err := os.WriteFile(page, []byte(is), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// edgeTable asks all questions, and says in Markdown what came of it.
func edgeTable(t *testing.T, kind string) string {
	edges := edgesOf(kind)
	var peers []string
	for _, e := range edges {
		for peer := range e.by {
			if !slices.Contains(peers, peer) {
				peers = append(peers, peer)
			}
		}
	}
	slices.SortFunc(peers, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	answers := make([][]string, len(edges))
	var work errgroup.Group
	work.SetLimit(atOnce)
	for i, e := range edges {
		answers[i] = make([]string, len(peers))
		for j, peer := range peers {
			if e.by[peer] == nil {
				answers[i][j] = "–"
				continue
			}
			work.Go(func() error {
				answers[i][j] = ask(t.Context(), kind, i, peer)
				if slices.Contains(strings.Fields(e.surprise), peer) {
					answers[i][j] = "⚠ " + answers[i][j]
				}
				return nil
			})
		}
	}
	_ = work.Wait()
	is := "| |"
	for _, peer := range peers {
		is += " `peer-" + peer + "` |"
	}
	is += "\n|---|" + strings.Repeat("---|", len(peers)) + "\n"
	for i, e := range edges {
		is += "| " + e.asks + " | " + strings.Join(answers[i], " | ") + " |\n"
	}
	return is
}

// order is where a peer stands in lists; the only one of actors is first in its own.
func order(peer string) int {
	for i, p := range Groups() {
		if p.Name == peer {
			return i
		}
	}
	return 0
}
