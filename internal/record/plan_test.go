package record_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

func TestOrder(t *testing.T) {
	p := recordtest.Plan(8, 5)
	byIndex := func(a, b Unit) int { return cmp.Compare(a.Step.Index, b.Step.Index) }
	seen := make(map[string]bool)
	for _, seed := range []uint64{7, 8} {
		p.Seed = seed
		for block := 1; block <= p.Blocks; block++ {
			order := p.Order(block)
			if !slices.Equal(order, p.Order(block)) {
				t.Errorf("seed %d, block %d: two orders", seed, block)
			}
			seen[fmt.Sprint(order)] = true
			slices.SortFunc(order, byIndex)
			if !slices.EqualFunc(order, p.Steps(), func(u Unit, s Step) bool { return u.Turns == nil && u.Step == s }) {
				t.Errorf("seed %d, block %d is not every step once: %v", seed, block, order)
			}
		}
	}
	// Of 16! orders, no two are the same by chance.
	if len(seen) != 10 {
		t.Errorf("%d orders in 2 × 5 blocks", len(seen))
	}
}

func TestSteps(t *testing.T) {
	var names []string
	for i, s := range recordtest.Plan(3, 1).Steps() {
		if s.Index != i+1 {
			t.Errorf("step %d has index %d", i, s.Index)
		}
		names = append(names, s.FullName())
	}
	if got, want := strings.Join(names, " "), "BenchmarkB BenchmarkB-2 BenchmarkB-2 BenchmarkB-2-2 BenchmarkB/x=1 BenchmarkB/x=1-2"; got != want {
		t.Errorf("names %q, want %q", got, want)
	}
}

func TestPlanCheck(t *testing.T) {
	for want, spoil := range map[string]func(*Plan){
		"":                    func(*Plan) {},
		"no benchmarks":       func(p *Plan) { p.Cases = nil },
		"--blocks is 0":       func(p *Plan) { p.Blocks = 0 },
		"--cpu is empty":      func(p *Plan) { p.CPU = nil },
		"--cpu 0: GOMAXPROCS": func(p *Plan) { p.CPU = []int{1, 0} },
		"--timeout is -1s":    func(p *Plan) { p.Timeout = -time.Second },
		`--bench "("`:         func(p *Plan) { p.Bench = "(" },
		`--time is "0x"`:      func(p *Plan) { p.Time = "0x" },
		`--time is "x"`:       func(p *Plan) { p.Time = "x" },
		`--time is "-1s"`:     func(p *Plan) { p.Time = "-1s" },
		`--time is "100"; it must be a duration such as "100ms" or a number of iterations such as "1000x"`: func(p *Plan) { p.Time = "100" },
	} {
		p := recordtest.Plan(2, 2)
		spoil(p)
		if err := p.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for _, good := range []string{"1x", "200ms", "1m30s"} {
		if err := CheckTime(good); err != nil {
			t.Error(err)
		}
	}
	if err := (&Plan{Blocks: 1, CPU: []int{1}, Timeout: 1, Time: "1x"}).CheckSettings(); err != nil {
		t.Errorf("without cases: %v", err)
	}
}

func TestPlanSurvivesTheFile(t *testing.T) {
	p := recordtest.Plan(6, 3)
	lines := p.Lines()
	got, err := DecodeInFile(append([]string{"commit: x", "# a comment"}, lines...))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, got), asJSON(t, p); a != b {
		t.Errorf("decoded %s, want %s", a, b)
	}
	if got.ID() != p.ID() || len(p.ID()) != 12 {
		t.Errorf("ID %s, want %s", got.ID(), p.ID())
	}
	got.Cases[5].Name += "x"
	if got.ID() == p.ID() {
		t.Error("the ID does not depend on the cases")
	}
	for want, lines := range map[string][]string{
		"there is no plan in it":                          {"BenchmarkX 1 1 ns/op"},
		"line 2: the plan cannot be read":                 {"", "# plan: {"},
		`line 2: "BenchmarkX" is not a package and a ben`: {lines[0], "# case: BenchmarkX"},
		"the plan has no benchmarks":                      {lines[0]},
	} {
		if _, err := DecodeInFile(lines); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lines, err, want)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every field of a plan has a difference of its own name. A field that is added
// and not compared is caught by the count.
func TestPlanDifferences(t *testing.T) {
	if diffs := recordtest.Plan(4, 2).Differences(recordtest.Plan(4, 2)); len(diffs) != 0 {
		t.Errorf("equal plans differ: %q", diffs)
	}
	spoilers := map[string]struct {
		spoil func(*Plan)
		want  []string
	}{
		"packages": {func(p *Plan) { p.Packages = []string{"a", "b"} }, []string{"packages: ./... → a b"}},
		"bench":    {func(p *Plan) { p.Bench = "x" }, []string{"bench: . → x"}},
		"blocks":   {func(p *Plan) { p.Blocks = 9 }, []string{"blocks: 2 → 9"}},
		"time":     {func(p *Plan) { p.Time = "1s" }, []string{"time: 1x → 1s"}},
		"cpu":      {func(p *Plan) { p.CPU = []int{4} }, []string{"cpu: [1 2] → [4]"}},
		"seed":     {func(p *Plan) { p.Seed = 8 }, []string{"seed: 7 → 8"}},
		"benchmem": {func(p *Plan) { p.Benchmem = true }, []string{"benchmem: false → true"}},
		"timeout":  {func(p *Plan) { p.Timeout = time.Second }, []string{"timeout: 1m0s → 1s"}},
		"cases": {func(p *Plan) { p.Cases[3].Name = "BenchmarkN" }, []string{
			"benchmark BenchmarkB/y of example.com/b: there → gone", "benchmark BenchmarkN of example.com/b: absent → there",
		}},
		"subjects": {func(p *Plan) { p.Subjects = map[string]string{"example.com/b": strings.Repeat("2", 64)} }, []string{
			"test binary of example.com/a: 00 → none", "test binary of example.com/b: 11 → 222222222222",
		}},
	}
	for field, c := range spoilers {
		now := recordtest.Plan(4, 2)
		c.spoil(now)
		if got := recordtest.Plan(4, 2).Differences(now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", field, got, c.want)
		}
	}
	// Plans that know of turns and looks have more fields.
	for field, c := range map[string]struct {
		spoil func(*Plan)
		want  []string
	}{
		"mode":    {func(p *Plan) { p.Mode = ModeTurns }, []string{"mode: auto → turns"}},
		"col":     {func(p *Plan) { p.Col = SideKey }, []string{"col: /impl → side"}},
		"control": {func(p *Plan) { p.Control = false }, []string{"control: true → false"}},
		"rounds":  {func(p *Plan) { p.Rounds = 4 }, []string{"rounds: 3 → 4"}},
		"slice":   {func(p *Plan) { p.Slice = time.Second }, []string{"slice: 5ms → 1s"}},
		"layouts": {func(p *Plan) { p.Layouts = 0 }, []string{"layouts: 3 → 1"}},
		"counter": {func(p *Plan) { p.Counter = "x" }, []string{"counter:  → x"}},
		"count":   {func(p *Plan) { p.Count = 10 }, []string{"count: 1 → 10"}},
		"looks":   {func(p *Plan) { p.Looks = nil }, []string{"looks: [2 4 6] → []"}},
		"alpha":   {func(p *Plan) { p.Alpha = 0.1 }, []string{"alpha: 0.05 → 0.1"}},
		"margin":  {func(p *Plan) { p.Margin = 0.01 }, []string{"margin: 0.02 → 0.01"}},
	} {
		then, now := recordtest.Sequential(), recordtest.Sequential()
		c.spoil(now)
		if got := then.Differences(now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", field, got, c.want)
		}
		spoilers[field] = c
		if then.ID() == now.ID() {
			t.Errorf("the ID does not depend on %s", field)
		}
	}
	then := recordtest.Sequential()
	then.Col, then.Count, then.Counter = "/impl", 10, "x"
	var fields map[string]any
	if err := json.Unmarshal([]byte(asJSON(t, then)), &fields); err != nil {
		t.Fatal(err)
	}
	if len(fields) != len(spoilers) {
		t.Errorf("%d fields and %d differences", len(fields), len(spoilers))
	}
	for f := range fields {
		if _, ok := spoilers[f]; !ok {
			t.Errorf("no difference is tried for the field %s", f)
		}
	}
}

// What a plan has beyond the settings of single processes survives the file too.
func TestPlanOfTurnsSurvivesTheFile(t *testing.T) {
	p := recordtest.Sequential()
	p.Cases[1].Side, p.Cases[2].Slow = "new", 0.05
	got, err := DecodePlan(p.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, got), asJSON(t, p); a != b || got.ID() != p.ID() {
		t.Errorf("decoded %s, want %s", a, b)
	}
	for want, line := range map[string]string{
		"slow=x is no number of times":  CaseMark + "p BenchmarkX slow=x",
		"slow=-1 is no number of times": CaseMark + "p BenchmarkX slow=-1",
		"expected key=value":            CaseMark + "p BenchmarkX slow",
		"is not of a plan":              "BenchmarkX 1 1 ns/op",
		"not of a plan":                 strings.Split(p.Encode(), "\n")[0],
	} {
		if _, err := DecodePlan(p.Encode() + line + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestPlanOfTurnsCheck(t *testing.T) {
	for want, spoil := range map[string]func(*Plan){
		"":                          func(*Plan) {},
		"--rounds is 0":             func(p *Plan) { p.Rounds = 0 },
		"--slice is 0s":             func(p *Plan) { p.Slice = 0 },
		"--layouts is -1":           func(p *Plan) { p.Layouts = -1 },
		"--rounds is 5001":          func(p *Plan) { p.Rounds = 5001 },
		"--layouts is 101":          func(p *Plan) { p.Layouts = 101 },
		`--mode is "x"; it must be`: func(p *Plan) { p.Mode = "x" },
		"are no ascending numbers":  func(p *Plan) { p.Looks = []int{4, 2, 6} },
		"is not after the last of":  func(p *Plan) { p.Looks = []int{2, 4} },
		"the level 0 and margin":    func(p *Plan) { p.Alpha = 0 },
	} {
		p := recordtest.Sequential()
		spoil(p)
		if err := p.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
