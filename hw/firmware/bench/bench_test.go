package bench_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/bench"
	"github.com/dynolab/dyno/hw/firmware/internal/porttest"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/workloads"
)

// largeHeap is what the board says of its heap.
var largeHeap = false

// run runs the firmware with the benchmarks of impl, and returns the texts of what it
// says to the commands.
func run(t *testing.T, impl dyno.Impl, commands ...string) []string {
	t.Helper()
	p := &porttest.Port{In: strings.Join(commands, "\n") + "\n"}
	clock := &porttest.Clock{Look: 50}
	firmware.Main(firmware.Board{
		Name: "fake", Port: p, Clock: clock, Emulated: true,
		Wait:     clock.Pass,
		Exit:     func(int) {},
		Platform: conformance.Platform{Goexit: true, RuntimePanics: true, Stacks: true, Heap: largeHeap},
	}, impl, firmware.Build{}, bench.Cases(impl))
	return porttest.Texts(t, p.Out.String())
}

// names returns the names of the cases of impl.
func names(impl dyno.Impl) (all []string) {
	for c := range bench.Cases(impl) {
		all = append(all, c.Part+"/"+c.Name)
	}
	return all
}

// Every case of every implementation gives one result, of its name, which the tools for
// the format can read and which has the units of its kind.
func TestEveryImplementation(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			for c := range bench.Cases(impl) {
				said := run(t, impl, "run bench/"+c.Name)
				if last := said[len(said)-1]; last != "end run bench/"+c.Name+" ok" {
					t.Errorf("%s:\n%s", c.Name, strings.Join(said, "\n"))
					continue
				}
				check(t, c, impl, said)
			}
		})
	}
}

// check looks at the results of a case.
func check(t *testing.T, c firmware.Case, impl dyno.Impl, said []string) {
	t.Helper()
	results := 0
	for _, text := range said {
		raw, ok := strings.CutPrefix(text, line.ResultPrefix)
		if !ok {
			continue
		}
		results++
		r := benchfmt.NewReader(strings.NewReader(raw+"\n"), "said")
		if !r.Scan() {
			t.Fatalf("%q: %v", raw, r.Err())
		}
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%q: %v", raw, r.Result())
		}
		if string(res.Name) != c.Name || res.Iters != c.Ops {
			t.Errorf("%q is %s with %d operations, want %s with %d", raw, res.Name, res.Iters, c.Name, c.Ops)
		}
		want := []string{"insns/op", "B/op", "allocs/op"}
		switch {
		case strings.Contains(c.Name, "case=actor-memory"):
			want = append(want, "B/actor", "B/system")
		case strings.Contains(c.Name, "case=slot-memory"):
			want = append(want, "B/slot")
		case strings.Contains(c.Name, "case=32-actors"):
			want = append(want, "allocs/msg", "B/msg", "heap-used-B", "heap-free-B")
		case strings.Contains(c.Name, "case=log"): // it has the time of an entry
		case strings.Contains(c.Name, "workload=latency1k"), strings.Contains(c.Name, "workload=spawn"):
			want = append(want, "allocs/msg", "B/msg", "mean-insns", "p50-insns", "p99-insns", "max-insns", "backlog", "backlog-mean", "backlog-end")
		case strings.Contains(c.Name, "workload=restart"):
			want = append(want, "allocs/msg", "B/msg", "recovered-%", "undelivered-found-%")
		case strings.HasPrefix(c.Name, "Group/"):
			want = append(want, "allocs/task", "B/task")
		default:
			want = append(want, "allocs/msg", "B/msg")
		}
		for i, v := range res.Values {
			if i >= len(want) || v.Unit != want[i] {
				t.Errorf("%q: value %d is in %s, want %v", raw, i+1, v.Unit, want)
			}
			if lower, higher := "unit "+v.Unit+" better=lower", "unit "+v.Unit+" better=higher"; !slices.Contains(said, lower) && !slices.Contains(said, higher) {
				t.Errorf("%s: nothing says which way %s is better:\n%s", c.Name, v.Unit, strings.Join(said, "\n"))
			}
		}
		if len(res.Values) != len(want) {
			t.Errorf("%q has %d values, want %v", raw, len(res.Values), want)
		}
		if v, _ := res.Value("B/op"); strings.Contains(c.Name, "-memory/") && v < 1 {
			t.Errorf("%q: actors and mailboxes are made of nothing", raw)
		}
		if v, ok := res.Value("recovered-%"); ok && v != 100 {
			t.Errorf("%q: want all failures recovered from", raw)
		}
		if v, ok := res.Value("backlog"); ok && !impl.Promises.Eager && v > 10 {
			t.Errorf("%q: want a backlog of no more than 10", raw)
		}
	}
	if results != 1 {
		t.Errorf("%s: %d results, want one:\n%s", c.Name, results, strings.Join(said, "\n"))
	}
}

// The case of the log has each entry sent over the line, in order with the case's result.
func TestLog(t *testing.T) {
	for _, impl := range impls.All() {
		said := run(t, impl, "run bench/Board/case=log/impl="+impl.Name)
		n := 0
		for _, text := range said {
			if text == "note log WARN /user: the pressure is high" {
				n++
			}
		}
		if n != 8 {
			t.Errorf("%s: %d entries, want 8:\n%s", impl.Name, n, strings.Join(said, "\n"))
		}
	}
}

// The single-threaded implementation allocates nothing for a message.
func TestSerialAllocatesNothing(t *testing.T) {
	for _, name := range []string{"Actor/workload=pingpong", "Actor/workload=pairs/actors=20", "Actor/workload=ring", "Actor/workload=count", "Actor/workload=ask", "Actor/workload=big/actors=16", "Board/case=32-actors"} {
		var said string
		for range 10 { // others of the process, such as the collector, allocate now and then
			said = strings.Join(run(t, serial.Impl, "run bench/"+name+"/impl=serial"), "\n")
			if strings.Contains(said, " 0 B/op 0 allocs/op 0 allocs/msg 0 B/msg") {
				break
			}
		}
		if !strings.Contains(said, " 0 B/op 0 allocs/op 0 allocs/msg 0 B/msg") {
			t.Errorf("%s:\n%s", name, said)
		}
	}
}

// Where the heap is counted in pages, what an actor takes of it is not reported.
func TestMemoryWhereItCannotBeTold(t *testing.T) {
	largeHeap = true
	defer func() { largeHeap = false }()
	for name, skipped := range map[string]bool{"actor-memory": true, "slot-memory": true, "32-actors": false} {
		said := strings.Join(run(t, serial.Impl, "run bench/Board/case="+name+"/impl=serial"), "\n")
		if strings.Contains(said, " skipped needs a small heap") != skipped || strings.Contains(said, "result ") == skipped {
			t.Errorf("%s:\n%s", name, said)
		}
	}
}

func TestList(t *testing.T) {
	said := run(t, serial.Impl, "list")
	var listed []string
	for _, text := range said {
		if c, ok := line.ParseListed(text); ok {
			want := 1000 // what the targets speak of
			switch {
			case strings.Contains(c.Name, "/workload=restart"), strings.Contains(c.Name, "/workload=spawn/"):
				want = 100
			case strings.Contains(c.Name, "=16/"), strings.Contains(c.Name, "=32/"): // whole rounds
				want = 992
			case strings.Contains(c.Name, "/case="):
				want = c.Ops
			}
			if c.Ops < 1 || c.Ops != want || c.Skip != "" {
				t.Errorf("%+v", c)
			}
			listed = append(listed, c.Name)
		}
	}
	if want := names(serial.Impl); strings.Join(listed, " ") != strings.Join(want, " ") {
		t.Errorf("%q, want %q", listed, want)
	}
}

// An implementation without a contract has no cases of it.
func TestContractsThatAreNotThere(t *testing.T) {
	if got := names(dyno.Impl{Name: "x"}); len(got) != 0 {
		t.Errorf("of nothing: %q", got)
	}
	for _, name := range names(dyno.Impl{Name: "x", NewGroup: serial.Impl.NewGroup}) {
		if !strings.HasPrefix(name, "bench/Group/") {
			t.Errorf("without actors: %s", name)
		}
	}
}

// losing makes dispatchers whose ports lose a message now and then.
type losing struct{ actor.Dispatcher }

func (d losing) Attach(cfg actor.MailboxConfig) actor.Port {
	return &losingPort{Port: d.Dispatcher.Attach(cfg)}
}

func (d losing) RunUntilIdle() { d.Dispatcher.(actor.Synchronous).RunUntilIdle() }

type losingPort struct {
	actor.Port
	sent int
}

func (p *losingPort) Send(msg any, from actor.Worker) actor.SendResult {
	if p.sent++; p.sent%7 == 0 {
		return actor.Sent
	}
	return p.Port.Send(msg, from)
}

// costly makes dispatchers that take memory: 64 KiB for an actor, 8 KiB for a place in a bounded
// mailbox, and an object for a message.
type costly struct {
	actor.Dispatcher
	sent *int
}

func (d costly) Attach(cfg actor.MailboxConfig) actor.Port {
	size := 64 << 10
	if cfg.Capacity > 0 {
		size = cfg.Capacity * 8 << 10
	}
	return &costlyPort{Port: d.Dispatcher.Attach(cfg), sent: d.sent, room: make([]byte, size)}
}

func (d costly) RunUntilIdle() { d.Dispatcher.(actor.Synchronous).RunUntilIdle() }

type costlyPort struct {
	actor.Port
	sent *int
	room []byte
	last *[64]byte
}

func (p *costlyPort) Send(msg any, from actor.Worker) actor.SendResult {
	*p.sent++
	p.last = new([64]byte)
	return p.Port.Send(msg, from)
}

// What an actor, a place and a message take is in the figures that say so, and of how many
// messages and how much time they are.
func TestFiguresAreOfWhatTheySay(t *testing.T) {
	if invariants.Enabled {
		t.Skip("builds with invariants notice that the dispatcher is wrapped")
	}
	sent := 0
	impl := serial.Impl
	impl.NewDispatcher = func() actor.Dispatcher { return costly{serial.NewDispatcher(), &sent} }
	for _, c := range []struct {
		name, unit string
		least      float64
		sent       int // at least, and at most a quarter more
	}{
		{"Board/case=actor-memory", "B/actor", 64 << 10, 3 * 32},
		{"Board/case=slot-memory", "B/slot", 8 << 10, 8 * (8 + 8 + 64)},
		{"Board/case=32-actors", "allocs/msg", 1, 5 * 32 * 8},
		{"Actor/workload=pingpong", "allocs/msg", 1, 2000},
		{"Actor/workload=count", "allocs/msg", 1, 2000},
		{"Actor/workload=latency1k", "insns/op", 15_500, 1000},
		{"Actor/workload=spawn/rate=1000", "insns/op", 15_400, 300},
		{"Actor/workload=restart", "recovered-%", 100, 230},
	} {
		sent = 0
		said := strings.Join(run(t, impl, "run bench/"+c.name+"/impl=serial"), "\n")
		_, raw, _ := strings.Cut(said, line.ResultPrefix)
		raw, _, _ = strings.Cut(raw, "\n")
		r := benchfmt.NewReader(strings.NewReader(raw+"\n"), "said")
		r.Scan()
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Errorf("%s:\n%s", c.name, said)
			continue
		}
		if v, _ := res.Value(c.unit); v < c.least || v > c.least*1.1 {
			t.Errorf("%v %s, want %v: %s", v, c.unit, c.least, raw)
		}
		if v, ok := res.Value("mean-insns"); ok && v > 1000 {
			t.Errorf("a message is handled at once, and not after %v instructions: %s", v, raw)
		}
		if sent < c.sent || sent > c.sent*5/4 {
			t.Errorf("%s: %d messages were sent, want %d", c.name, sent, c.sent)
		}
	}
}

// An implementation that loses messages has no figures.
func TestNoFigureOfALostMessage(t *testing.T) {
	if invariants.Enabled {
		t.Skip("builds with invariants notice that the dispatcher is wrapped")
	}
	impl := serial.Impl
	impl.NewDispatcher = func() actor.Dispatcher { return losing{serial.NewDispatcher()} }
	for _, name := range names(impl) {
		if strings.Contains(name, "Group/") {
			continue
		}
		said := strings.Join(run(t, impl, "run "+name), "\n")
		if strings.Contains(said, "result ") || !strings.Contains(said, "fail ") || !strings.HasSuffix(said, "end run "+name+" failed") {
			t.Errorf("%s:\n%s", name, said)
		}
	}
}

// Every workload of the host is asked of boards, or there is a reason why not. Smaller
// workloads have names of their own: a figure says nothing of the larger one.
func TestNothingIsLeftOutSilently(t *testing.T) {
	there := names(serial.Impl)
	whole := make(map[string]string)
	for _, w := range workloads.All() {
		name := w.Benchmark("serial")
		whole[name] = w.Doc
		if asked := slices.Contains(there, "bench/"+name); asked == (w.TooBig != "") {
			t.Errorf("%s is neither a case nor left out for a reason, or both: %q", name, w.TooBig)
		}
	}
	for w := range workloads.Small() {
		doc, ok := whole[w.Benchmark("serial")]
		if ok && doc != w.Doc || !ok && !strings.Contains(w.Variant, "=") {
			t.Errorf("%s: %q, and on the host %q", w.Path(), w.Doc, doc)
		}
		if len(w.Refs) > 0 {
			t.Errorf("%s has references, which a board carries", w.Path())
		}
	}
}
