package scale

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/quotetest"
)

// The figures that the forecast starts from.
const source = "../../results/amd-epyc-2c-linux-amd64/20261123-020322-a46b0e06.bench"

func calibrated(t *testing.T) *Model {
	t.Helper()
	data, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Calibrate(source, data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// free is a machine on which nothing costs anything but jobs.
var free = Machine{Crowd: 1, Wake: 1, Yield: 1}

// The same seed gives the same run; another one, another order of victims.
func TestSeeds(t *testing.T) {
	took := func(seed uint64) float64 {
		ns, _ := run(Machine{Crowd: 1, Own: 5, Move: 50, Wake: 1000, Yield: 100}, Design{}, &fib{n: 15, call: 100}, 8, seed)
		return ns
	}
	if a, b := took(1), took(1); a != b {
		t.Errorf("one seed gives %v and %v", a, b)
	}
	if a, b := took(1), took(2); a == b {
		t.Errorf("two seeds give %v", a)
	}
}

// Work that needs nothing from others takes as long as it is divided by processors.
func TestIndependentWorkIsDivided(t *testing.T) {
	for _, p := range []int{1, 2, 8, 64, 128} {
		l := &pairs{count: 1024, stretches: 1000, hop: 100}
		took, _ := run(free, Design{}, l, p, 1)
		want := float64(l.ops()) * 100 / float64(p)
		if took < want*0.999 || took > want*1.03 {
			t.Errorf("%d processors: %.0f ns, want %.0f", p, took, want)
		}
	}
}

// What one line is needed for is not done faster than the line serves: its service time is the
// limit that the utilization law sets. With shards there are as many lines.
func TestInjectQueueSaturates(t *testing.T) {
	m := free
	m.Own, m.Move = 5, 50
	for _, c := range []struct {
		processors, shards int
		want               float64
	}{{32, 0, 50}, {128, 0, 50}, {128, 4, 12.5}} {
		l := &outside{jobs: 100_000, cost: []float64{1}}
		took, _ := run(m, Design{Shards: c.shards}, l, c.processors, 1)
		if got := took / float64(l.jobs); got < c.want || got > c.want*1.1 {
			t.Errorf("%d processors, %d shards: %.1f ns a job, want %.1f and hardly more", c.processors, c.shards, got, c.want)
		}
	}
}

// Fork-join takes no less than the work divided by the processors and than the longest chain,
// and no more than the two together and some steals: the bound of Blumofe and Leiserson.
func TestForkJoinBounds(t *testing.T) {
	const call = 100.0
	for _, p := range []int{1, 2, 4, 16, 64} {
		l := &fib{n: 18, call: call}
		took, _ := run(free, Design{Searchers: p}, l, p, 1)
		work, chain := float64(l.ops())*call, 18*call
		if least, most := math.Max(work/float64(p), chain), work/float64(p)+4*chain; took < least || took > most {
			t.Errorf("%d processors: %.0f ns, want from %.0f to %.0f", p, took, least, most)
		}
	}
}

// Workers are woken one after the other: the last of them sleeps for as long as all wakes take.
func TestWakesAreAChain(t *testing.T) {
	m := free
	m.Wake = 1000
	const processors = 64.0
	asleep := func(d Design) float64 {
		_, spent := run(m, d, &outside{jobs: 20_000, most: 1, cost: []float64{1000}}, int(processors), 1)
		return spent[Asleep] / processors / m.Wake // wakes that a worker has slept through on average
	}
	one, eight := asleep(Design{}), asleep(Design{Searchers: 8})
	if want := (processors - 1) / 2.0; one < want || one > want*1.1 { // the i-th of them for i wakes
		t.Errorf("a worker slept for %.1f wakes on average, want %.1f", one, want)
	}
	if eight > one/2 {
		t.Errorf("with 8 at once a worker slept for %.1f wakes, one at a time %.1f", eight, one)
	}
}

// A thief takes the older half, and of forks the oldest alone; a worker takes its oldest job, and of
// forks the newest.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		fork                bool
		own, stolen, behind int
	}{{false, 0, 0, 1}, {true, 3, 0, 0}} {
		s := &sim{Machine: free, workers: make([]worker, 2), rows: make([]line, 1), shown: make([]bool, 2)}
		queue := func() []job {
			return []job{{fork: c.fork, arg: 0}, {fork: c.fork, arg: 1}, {fork: c.fork, arg: 2}, {fork: c.fork, arg: 3}}
		}
		w, v := &s.workers[0], &s.workers[1]
		w.queue, v.queue = queue(), queue()
		if j, _ := s.pop(w); j.arg != c.own {
			t.Errorf("forks %v: a worker takes job %d of its own, want %d", c.fork, j.arg, c.own)
		}
		w.queue = nil
		if j, _ := s.steal(w, v); j.arg != c.stolen || len(w.queue) != c.behind || len(v.queue) != 3-c.behind {
			t.Errorf("forks %v: a thief takes job %d and %d more and leaves %d, want job %d and %d more", c.fork, j.arg, len(w.queue), len(v.queue), c.stolen, c.behind)
		}
	}
}

// Between NUMA nodes a line's way is longer, and near victims are worth looking at first.
func TestNodes(t *testing.T) {
	m := free
	m.Own, m.Move = 5, 500
	took := func(nodes int, d Design) float64 {
		m := m
		m.Nodes, m.Far = nodes, 4
		ns, _ := run(m, d, &fib{n: 18, call: 100}, 32, 1)
		return ns
	}
	one, four, near := took(1, Design{}), took(4, Design{}), took(4, Design{NearFirst: true})
	if four < one*1.2 || near > four*0.95 {
		t.Errorf("one node %.0f ns, four %.0f, four with near victims first %.0f", one, four, near)
	}
}

// errors are how far the forecast for two processors may be from what was measured.
var errors = map[string]float64{
	"pairs": 0.1, "uneven batch": 0.1, "from outside": 0.05, "fork-join": 0.3, "fan-in": 0.9,
}

// On one processor the model is calibrated, on two it is checked.
func TestWhereTheTruthIsKnown(t *testing.T) {
	m := calibrated(t)
	for _, k := range m.Kinds {
		if one, _ := m.PerOp(k, Design{}, 1); math.Abs(one/k.One-1) > 0.02 {
			t.Errorf("%s on one processor: %.1f ns, measured %.1f", k.Name, one, k.One)
		}
		if two, _ := m.PerOp(k, Design{}, 2); math.Abs(two/k.Two-1) > errors[k.Name] {
			t.Errorf("%s on two processors: %.1f ns, measured %.1f", k.Name, two, k.Two)
		}
	}
	if _, err := Calibrate("empty", nil); err == nil || !strings.Contains(err.Error(), "Cost/of=line") {
		t.Errorf("a file without figures: %v", err)
	}
}

// TestPage holds the tables of FORECAST.md to the model. -update writes them.
func TestPage(t *testing.T) {
	const page, begin, end = "FORECAST.md", "<!-- forecast: begin -->\n", "<!-- forecast: end -->\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !*quotetest.Update && quotetest.Unchanged(t, data, "*.go", source) {
		return
	}
	before, rest, ok := strings.Cut(string(data), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the forecast", page)
	}
	want := forecast(calibrated(t))
	if !*quotetest.Update {
		if got != want {
			t.Errorf("%s does not say what the model forecasts: go test -run TestPage -update ./internal/scale writes it", page)
		}
		return
	}
	if err := os.WriteFile(page, quotetest.Stamp(t, []byte(before+begin+want+end+after), "*.go", source), 0o644); err != nil {
		t.Fatal(err)
	}
}

var processors = []int{1, 2, 4, 8, 16, 32, 64, 128}

// forecast is the page's tables.
func forecast(m *Model) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The machine, in nanoseconds: a locked instruction on a line of one's own %.1f, a line's way to another processor %.1f, a wake %.0f, a look around %.0f; work takes %.2f times as long while another processor works.\n\n",
		m.Own, m.Move, m.Wake, m.Yield, m.Crowd)
	b.WriteString("| Kind | Measured as | 1: measured | 2: measured | 2: model | error |\n|---|---|---:|---:|---:|---:|\n")
	for _, k := range m.Kinds {
		two, _ := m.PerOp(k, Design{}, 2)
		off := fmt.Sprintf("%+.0f %%", 100*(two/k.Two-1))
		if k.Fitted {
			off += ", fitted"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %.1f ns | %.1f ns | %.1f ns | %s |\n", k.Name, k.Bench, k.One, k.Two, two, off)
	}
	b.WriteString("\nHow many times as fast as one processor:\n\n| Kind |")
	for _, p := range processors {
		fmt.Fprintf(&b, " %d |", p)
	}
	b.WriteString(" What breaks first |\n|---|" + strings.Repeat("---:|", len(processors)) + "---|\n")
	for _, k := range m.Kinds {
		fmt.Fprintf(&b, "| %s |", k.Name)
		breaks := "nothing, up to here"
		for _, p := range processors {
			ns, shares := m.PerOp(k, Design{}, p)
			fmt.Fprintf(&b, " %.2g |", k.One/ns)
			if k.One/ns < 0.5*float64(p) && strings.HasPrefix(breaks, "nothing") {
				breaks = fmt.Sprintf("at %d: %s, %.0f %% of the processors' time", p, most(shares), 100*shares[most(shares)])
			}
		}
		fmt.Fprintf(&b, " %s |\n", breaks)
	}
	designs := []struct {
		name string
		Design
	}{
		{"as it is", Design{}},
		{"8 inject queues", Design{Shards: 8}},
		{"up to 8 woken at a time", Design{Searchers: 8}},
		{"both", Design{Shards: 8, Searchers: 8}},
		{"4 NUMA nodes, far lines 3 times as far", Design{}},
		{"the same, near victims first", Design{NearFirst: true}},
		{"the same, with all three", Design{Shards: 8, Searchers: 8, NearFirst: true}},
	}
	b.WriteString("\nWhat other designs would do, on 64 processors:\n\n|  |")
	for _, k := range m.Kinds {
		b.WriteString(" " + k.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(m.Kinds)) + "\n")
	for i, d := range designs {
		with := *m
		if i >= 4 {
			with.Nodes, with.Far = 4, 3
		}
		b.WriteString("| " + d.name + " |")
		for _, k := range m.Kinds {
			ns, _ := with.PerOp(k, d.Design, 64)
			fmt.Fprintf(&b, " %.2g |", k.One/ns)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// most returns the part, but for work, that most of the time goes into.
func most(shares Shares) Part {
	at := Queues
	for p := Queues; p < Parts; p++ {
		if shares[p] > shares[at] {
			at = p
		}
	}
	return at
}
