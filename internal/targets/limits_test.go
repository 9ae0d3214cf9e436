package targets_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/targets"
)

// asked is how each required target reads its line of conformance/requirements_test.go: the expression
// finds the figure there, with its unit, and the target's own words have the same one. What the
// line says without a figure is the most that it can mean.
var asked = map[string]struct {
	line, figure string
	bound        targets.Bound
	says         string  // the figure in the target's words
	limit        float64 // of a line without a figure
}{
	"V11/rate":     {"V11", `(10\^6) messages/s`, targets.AtLeast, "a million messages", 0},
	"V11/latency":  {"V11", `messages/s, < (\d+ ms)`, targets.AtMost, "1 ms", 0},
	"V11/actors":   {"V11", `([\d,]+) actors`, targets.AtLeast, "10,000 actors", 0},
	"V11/memory":   {"V11", `< (\d+ KiB) an actor`, targets.AtMost, "1 KiB", 0},
	"S5/cycle":     {"S5", `cycle < (\d+ ms)`, targets.AtMost, "within 1 ms", 0},
	"S5/resume":    {"S5", `resume < (\d+ ms)`, targets.AtMost, "within 10 ms", 0},
	"SC-001/host":  {"SC-001", `first message < (\d+ ms)`, targets.AtMost, "within 5 ms", 0},
	"SC-001/board": {"SC-001", `on a board < (\d+ ms)`, targets.AtMost, "within 20 ms", 0},
	"SC-002":       {"SC-002", `backlog of at most (\d+)`, targets.AtMost, "no more than 10", 0},
	"SC-003":       {"SC-003", `of 100 failures (\d+) are`, targets.AtLeast, "95 of 100", 0},
	"SC-004":       {"SC-004", `are found, all of them`, targets.AtLeast, "every undelivered", 100},
	"FR-014":       {"FR-014", `1,000 messages in (\d+ s)`, targets.AtMost, "within 1 s", 0},
	"SC-005":       {"SC-005", `no allocation per message`, targets.AtMost, "no allocation", 0.01},
	"FR-013":       {"FR-013", `a ping-pong sample`, targets.AtLeast, "leave memory free", 1},
}

// figure reads one of these: "10 ms" in nanoseconds, "1 KiB" in bytes, "10,000", "10^6".
func figure(t *testing.T, text string) float64 {
	t.Helper()
	number, unit, _ := strings.Cut(text, " ")
	base, power, _ := strings.Cut(strings.ReplaceAll(number, ",", ""), "^")
	v, err := strconv.ParseFloat(base, 64)
	if err != nil {
		t.Fatalf("%q is no figure", text)
	}
	for n, _ := strconv.Atoi(power); n > 1; n-- {
		v *= 10
	}
	return v * map[string]float64{"": 1, "ms": 1e6, "s": 1e9, "KiB": 1024}[unit]
}

// TestLimits: the limit of each required target is that of the line that it is for, as the table
// of the requirements has it.
func TestLimits(t *testing.T) {
	data, err := os.ReadFile("../../conformance/requirements_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]string)
	for _, m := range regexp.MustCompile(`\{id: "([^"]+)", says: "([^"]+)"`).FindAllStringSubmatch(string(data), -1) {
		lines[m[1]] = m[2]
	}
	used := make(map[string]bool)
	for _, target := range targets.All() {
		if !target.Required {
			continue
		}
		id := target.ID
		if _, ok := asked[id]; !ok {
			id, _, _ = strings.Cut(id, "/") // SC-005 of each workload
		}
		a, ok := asked[id]
		if used[id] = true; !ok {
			t.Errorf("%s: nothing says how its line is read", target.ID)
			continue
		}
		found := regexp.MustCompile(a.figure).FindStringSubmatch(lines[a.line])
		if found == nil {
			t.Errorf("%s: its line is %q, want %s in it", target.ID, lines[a.line], a.figure)
			continue
		}
		limit := a.limit
		if len(found) > 1 {
			limit = figure(t, found[1])
		}
		if target.Limit != limit || target.Bound != a.bound {
			t.Errorf("%s is %s %v, and its line asks for %q: %s %v", target.ID, target.Bound, target.Limit, found[0], a.bound, limit)
		}
		if !strings.Contains(target.Says, a.says) {
			t.Errorf("%s says %q, want %q in it", target.ID, target.Says, a.says)
		}
		statistic := targets.Median
		switch a.line {
		case "SC-001", "SC-003", "SC-004", "FR-013":
			statistic = targets.Worst
		}
		if id == "V11/actors" {
			statistic = targets.Worst
		}
		if target.Statistic != statistic {
			t.Errorf("%s is judged by the %s", target.ID, target.Statistic)
		}
		var times float64
		if id == "FR-014" { // which is of so many messages
			times = 1000
		}
		if target.Times != times || target.PerSecond != (id == "V11/rate") || target.Timed != (id == "SC-002") {
			t.Errorf("%s is derived by %v, %v, %v", target.ID, target.Times, target.PerSecond, target.Timed)
		}
	}
	for id := range asked {
		if !used[id] {
			t.Errorf("no target is for %s", id)
		}
	}
}

// TestAims: the limit of each aim is the one that results/targets.md shows it with, which is made
// of the list: a change of an aim makes the page anew. Each that is shown is in the list.
func TestAims(t *testing.T) {
	data, err := os.ReadFile("../../results/targets.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	shown := make(map[string]string) // the aim, by workload, implementation, unit and base
	for line := range strings.SplitSeq(page, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		if len(cells) < 6 {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		if cells[0] != "workload" && strings.ContainsAny(cells[4], "≤≥") {
			shown[strings.Join(cells[:4], " ")] = cells[4]
		}
	}
	aims := len(shown)
	for _, target := range targets.All() {
		if target.Required {
			continue
		}
		for _, impl := range target.Impls {
			base := target.Base
			if target.BaseWorkload != "" {
				base = target.BaseWorkload
			}
			key := strings.Join([]string{target.Workload, impl, target.Metric, base}, " ")
			aim, ok := shown[key]
			if !ok {
				continue // no file that is shown has it
			}
			delete(shown, key)
			sign, number, _ := strings.Cut(aim, " ")
			number, _, _ = strings.Cut(number, " ")
			v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
			if off := v - target.Limit; err != nil || off > target.Limit/200+0.005 || -off > target.Limit/200+0.005 || sign != target.Bound.String() {
				t.Errorf("%s is %s %v, and the page has %q", target.ID, target.Bound, target.Limit, aim)
			}
		}
	}
	if aims < 50 || len(shown) > 0 {
		t.Errorf("%d aims are shown, want 50 at least; of %v the list has none", aims, shown)
	}
}
