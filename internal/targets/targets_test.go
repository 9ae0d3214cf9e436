package targets_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/bench"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/internal/measure"
	"github.com/dynolab/dyno/internal/targets"
	"github.com/dynolab/dyno/workloads"
	"github.com/dynolab/dyno/workloads/benchtest"
	"github.com/dynolab/dyno/workloads/remoteload"
)

// The list has every line of the requirements that is a figure, once.
func TestLines(t *testing.T) {
	want := []string{
		"V11/rate", "V11/latency", "V11/actors", "V11/memory",
		"SC-001/host", "SC-001/board", "SC-002", "SC-003", "SC-004",
		"SC-005/pingpong", "SC-005/ring", "SC-005/pairs", "SC-005/count", "SC-005/fanin", "SC-005/ask",
		"FR-014", "S5/cycle", "S5/resume", "FR-013",
	}
	var got []string
	for _, target := range targets.All() {
		if target.Required {
			got = append(got, target.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("required are\n%q\nwant\n%q", got, want)
	}
}

func TestFields(t *testing.T) {
	id := regexp.MustCompile(`^(V11|SC-00[1-5]|FR-01[34]|S5|aim)(/[a-z0-9]+(=[a-z0-9]+)?)*$`)
	seen := map[string]bool{}
	for _, target := range targets.All() {
		switch {
		case !id.MatchString(target.ID):
			t.Errorf("%q is no line of the requirements and no aim", target.ID)
		case seen[target.ID]:
			t.Errorf("%s is in the list twice", target.ID)
		case target.Required == strings.HasPrefix(target.ID, "aim/"):
			t.Errorf("%s: an aim is not required, and a line of the requirements is", target.ID)
		case target.Says == "" || len(target.Says) > 60 || strings.HasSuffix(target.Says, "."):
			t.Errorf("%s: %q fits no table", target.ID, target.Says)
		case !(target.Limit > 0) || math.IsInf(target.Limit, 0):
			t.Errorf("%s: the limit is %v", target.ID, target.Limit)
		case target.Base != "" && target.BaseWorkload != "":
			t.Errorf("%s has two bases", target.ID)
		case target.Ratio() && (target.PerSecond || target.Times != 0 || target.Statistic != targets.Median):
			t.Errorf("%s: a ratio of what is derived, or of something else than medians", target.ID)
		case (target.PerSecond || target.Times != 0) && (target.Unit == "" || target.PerSecond && target.Times != 0):
			t.Errorf("%s is derived and has no unit, or is derived twice", target.ID)
		case target.Where&^targets.Anywhere != 0 || target.Where == 0:
			t.Errorf("%s applies nowhere", target.ID)
		}
		seen[target.ID] = true
	}
}

// A target that names what no run can print would never be measured, and no test
// would notice.
func TestTargetsNameWhatThereIs(t *testing.T) {
	refs := map[string][]string{} // by workload
	for _, w := range slices.Concat(workloads.All(), remoteload.All(remoteload.TCP())) {
		path := string(w.Contract) + "/" + w.Path()
		refs[path] = []string{}
		for _, r := range w.Refs {
			refs[path] = append(refs[path], r.Name)
		}
	}
	host, board := hostUnits(t), boardUnits()
	// What a board is asked.
	onBoards := map[string]bool{}
	for c := range bench.Cases(serial.Impl) {
		path := strings.TrimSuffix(c.Name, "/impl=serial")
		if onBoards[path] = true; refs[path] == nil {
			refs[path] = []string{}
		}
	}
	for _, target := range targets.All() {
		path := target.Row()
		if target.Where&targets.Board != 0 && !onBoards[path] {
			t.Errorf("%s is promised on boards, and no board is asked for %s", target.ID, path)
		}
		if refs[path] == nil {
			t.Errorf("%s: there is no %s", target.ID, path)
		}
		if target.Base != "" && !slices.Contains(refs[path], target.Base) {
			t.Errorf("%s: %s has no reference %s", target.ID, path, target.Base)
		}
		if from := targets.Row(target.Bench, target.BaseWorkload); target.BaseWorkload != "" && refs[from] == nil {
			t.Errorf("%s: there is no %s", target.ID, from)
		}
		for _, name := range target.Impls {
			if !slices.ContainsFunc(impls.All(), func(i dyno.Impl) bool { return i.Name == name }) {
				t.Errorf("%s: there is no implementation %s", target.ID, name)
			}
		}
		better := "lower"
		if (target.Bound == targets.AtLeast) != target.PerSecond {
			better = "higher"
		}
		if got := host.Get(target.Metric, "better"); target.Where&targets.Host != 0 && target.Metric != "ns/op" && (got == nil || got.Value != better) {
			t.Errorf("%s: benchmarks do not say that %s is better=%s", target.ID, target.Metric, better)
		}
		if line := "unit " + target.Metric + " better=" + better; target.Where&targets.Board != 0 && !strings.Contains(board, line+"\n") {
			t.Errorf("%s: no board says %s", target.ID, line)
		}
	}
}

// unitsWanted is set when this test runs itself for what its benchmarks print.
const unitsWanted = "TARGETS_UNITS"

func BenchmarkUnits(b *testing.B) {
	if os.Getenv(unitsWanted) == "" {
		b.Skip("only the tests of this package use this")
	}
	benchtest.Groups(b, serial.Impl)
	benchtest.Tasks(b, serial.Impl)
	benchtest.Actors(b, serial.Impl)
}

// hostUnits returns what benchmarks say of their units.
func hostUnits(t *testing.T) benchfmt.UnitMetadataMap {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkUnits$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), unitsWanted+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	r := benchfmt.NewReader(bytes.NewReader(out), "output")
	for r.Scan() {
		if e, ok := r.Result().(*benchfmt.SyntaxError); ok {
			t.Error(e)
		}
	}
	return r.Units()
}

// boardUnits returns what a board says that is asked everything.
func boardUnits() string {
	b := new(fakeBoard)
	for c := range bench.Cases(serial.Impl) {
		b.in += "run bench/" + c.Name + "\n"
	}
	b.in += "quit\n"
	firmware.Main(firmware.Board{Port: b, Clock: b, Wait: func(ticks int64) { b.now += ticks }, Exit: func(int) {}}, serial.Impl, firmware.Build{}, bench.Cases(serial.Impl))
	return b.out.String()
}

// A fakeBoard is a port whose host has sent everything beforehand, and a clock.
type fakeBoard struct {
	in  string
	out strings.Builder
	now int64
}

func (b *fakeBoard) Poll() (byte, bool) {
	if b.Closed() {
		return 0, false
	}
	c := b.in[0]
	b.in = b.in[1:]
	return c, true
}

func (b *fakeBoard) Closed() bool   { return b.in == "" }
func (b *fakeBoard) Write(p []byte) { b.out.Write(p) }
func (b *fakeBoard) Hz() float64    { return 1e9 }
func (b *fakeBoard) Unit() string   { return measure.Nanoseconds }

func (b *fakeBoard) Now() int64 {
	b.now++
	return b.now
}

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		target  targets.Target
		v, want float64
		unit    string
		met     bool
		bound   string
	}{
		{targets.Target{Metric: "B/actor", Limit: 10}, 10, 10, "B/actor", true, "≤"},
		{targets.Target{Metric: "B/actor", Limit: 10}, 10.1, 10.1, "B/actor", false, "≤"},
		{targets.Target{Metric: "p-%", Unit: "%", Limit: 95, Bound: targets.AtLeast}, 95, 95, "%", true, "≥"},
		{targets.Target{Metric: "p-%", Limit: 95, Bound: targets.AtLeast}, 94, 94, "p-%", false, "≥"},
		{targets.Target{Metric: "ns/op", PerSecond: true, Unit: "msgs/s", Limit: 1e6, Bound: targets.AtLeast}, 500, 2e6, "msgs/s", true, "≥"},
		{targets.Target{Metric: "ns/op", Times: 1000, Unit: "ns", Limit: 1e9}, 2e6, 2e9, "ns", false, "≤"},
		{targets.Target{Metric: "ns/op", Base: "ref-a", Limit: 1}, 0.5, 0.5, "", true, "≤"},
		{targets.Target{Metric: "ns/op", BaseWorkload: "a", Limit: 1}, math.NaN(), math.NaN(), "", false, "≤"},
		{targets.Target{Metric: "x", Bound: targets.AtLeast}, math.NaN(), math.NaN(), "x", false, "≥"},
	} {
		got := c.target.Figure(c.v)
		if got != c.want && !math.IsNaN(c.want) {
			t.Errorf("%+v: the figure of %v is %v, want %v", c.target, c.v, got, c.want)
		}
		if c.target.FigureUnit() != c.unit || c.target.Met(got) != c.met || c.target.Bound.String() != c.bound {
			t.Errorf("%+v: %v %s, met %v, %s", c.target, got, c.target.FigureUnit(), c.target.Met(got), c.target.Bound)
		}
	}
	if targets.Median.String() != "median" || targets.Worst.String() != "worst" {
		t.Error("the statistics' names are wrong")
	}
}

// An emulated board has instructions where others have times, and only there.
func TestOnInstructions(t *testing.T) {
	for metric, want := range map[string]string{
		"ns/op": "insns/op", "p99-ns": "p99-insns", "max-ns": "max-insns", "stop-ns/actor": "", "allocs/msg": "", "backlog": "", "ns": "", "-ns": "", "ns/": "",
	} {
		unit, ok := targets.OnInstructions(metric)
		if ok != (want != "") || ok && unit != want {
			t.Errorf("%s is %s, %v", metric, unit, ok)
		}
	}
	for _, c := range [][3]string{{"Actor", "ring/actors=2", "Actor/workload=ring/actors=2"}, {"Board", "32-actors", "Board/case=32-actors"}} {
		if row := (targets.Target{Bench: c[0], Workload: c[1]}).Row(); row != c[2] {
			t.Errorf("the row of %s, %s is %s", c[0], c[1], row)
		}
	}
}

// The caller may do with the list what it likes.
func TestAllIsACopy(t *testing.T) {
	targets.All()[0].ID = "changed"
	if id := targets.All()[0].ID; id == "changed" {
		t.Error("the list is shared")
	}
}
