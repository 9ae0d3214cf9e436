package testbin

import (
	"bytes"
	"flag"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
)

func TestParseListing(t *testing.T) {
	const text = `goos: linux
goarch: amd64
pkg: example.com/p
cpu: some processor
BenchmarkA
BenchmarkA/x=1
    a_test.go:3: told in passing
BenchmarkA/x=1-4         	       1	       100.0 ns/op	         3.000 B/task
--- BENCH: BenchmarkA/x=1-4
    a_test.go:3: told in passing
BenchmarkA/n-4
BenchmarkA/n-4-4         	       1	       100.0 ns/op
BenchmarkB
    a_test.go:9: not here:
        no such board
--- SKIP: BenchmarkB
BenchmarkC
--- SKIP: BenchmarkC
BenchmarkD
BenchmarkD/y
    a_test.go:12: lost 3 tasks
--- FAIL: BenchmarkD/y
--- FAIL: BenchmarkD
BenchmarkE is no result
BenchmarkF-4 	 one 	 2 ns/op
BenchmarkG
`
	at := readText(text, 4)
	l := at.listing("p")
	want := []record.Case{{Pkg: "p", Name: "BenchmarkA/x=1"}, {Pkg: "p", Name: "BenchmarkA/n-4"}}
	if !slices.Equal(l.Cases, want) {
		t.Errorf("cases %+v, want %+v", l.Cases, want)
	}
	if says := l.Says[want[0]]; len(l.Says) != 1 || says != "told in passing" {
		t.Errorf("says %v", l.Says)
	}
	absent := []record.Hole{
		{Case: "BenchmarkB", Kind: failure.Skip, Reason: "not here: no such board", Skipped: true},
		{Case: "BenchmarkC", Kind: failure.Skip, Reason: "no reason given", Skipped: true},
		{Case: "BenchmarkD/y", Kind: failure.Fail, Reason: "failed: a_test.go:12: lost 3 tasks"},
	}
	if !slices.Equal(l.Absent, absent) {
		t.Errorf("absent\n%+v, want\n%+v", l.Absent, absent)
	}
	if got, want := strings.Join(at.began, " "), "BenchmarkA BenchmarkA/x=1 BenchmarkA/n-4 BenchmarkB BenchmarkC BenchmarkD BenchmarkD/y BenchmarkG"; got != want || at.running != "BenchmarkG" {
		t.Errorf("begun %q, running %q, want %q and BenchmarkG", got, at.running, want)
	}
	for _, end := range []string{"BenchmarkG-4 \t 1 \t 1 ns/op\n", "--- SKIP: BenchmarkG\n", "PASS\n", "FAIL\n"} {
		if at := readText(text+end, 4); at.running != "" {
			t.Errorf("after %q it ended at %q", end, at.running)
		}
	}
	// With one processor names have no suffix.
	if l := listedIn("BenchmarkA/n-1\nBenchmarkA/n-1 \t 1 \t 1 ns/op\r\n", 1); len(l.Cases) != 1 || l.Cases[0].Name != "BenchmarkA/n-1" {
		t.Errorf("cases %+v", l.Cases)
	}
}

// listedIn is what a text lists.
func listedIn(text string, cpu int) *Listing {
	r := readText(text, cpu)
	return r.listing("p")
}

// What a benchmark prints is no benchmark, and hides none.
func TestTextThatPrints(t *testing.T) {
	const text = `BenchmarkDots
.BenchmarkDots-4   	       1	       100.0 ns/op
BenchmarkForges
BenchmarkForged-4   	       1	       7.0 ns/op
BenchmarkForges-4   	       1	       100.0 ns/op
BenchmarkAfter-4   	       1	       7.0 ns/op
`
	l := listedIn(text, 4)
	if want := []record.Case{{Pkg: "p", Name: "BenchmarkDots"}, {Pkg: "p", Name: "BenchmarkForges"}}; !slices.Equal(l.Cases, want) {
		t.Errorf("cases %+v, want %+v", l.Cases, want)
	}
}

func TestResultLine(t *testing.T) {
	const good = "BenchmarkA/x-2   \t     10\t  100 ns/op"
	for _, c := range []struct{ text, want, err string }{
		{"goos: linux\n" + good + "\r\nPASS\n", good, ""},
		{"BenchmarkA/x/y-2 \t 1 \t 1 ns/op\nBenchmarkA/x \t 1 \t 1 ns/op\n" + good, good, ""},
		{"BenchmarkA/x-2 \thello\n 10 \t 100 ns/op\n", "", `printed "hello" in its result line`},
		{"BenchmarkA/x-2 \t" + strings.Repeat("é", 50) + "\n", "", `printed "` + strings.Repeat("é", 40) + `…" in its result line`},
		{"helloBenchmarkA/x-2 \t 10 \t 100 ns/op\n", "", `printed "hello" in its result line`},
		{"BenchmarkA/x-2 \t\n", "", "printed no result"},
		{"BenchmarkA/x-2 \t 0 \t NaN ns/op\nPASS\n", "", "panicked, and"},
		{"BenchmarkA/x-22 \thello\n", "", "printed no result"},
		{"", "", "printed no result"},
	} {
		line, err := resultLines(c.text, "BenchmarkA/x-2", 1)
		if line != c.want || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%q: %q, %v, want %q, %q", c.text, line, err, c.want, c.err)
		}
	}
}

// Of a process that prints a benchmark several times, all lines count.
func TestResultLines(t *testing.T) {
	const a, b = "BenchmarkA-2 \t 10 \t 100 ns/op", "BenchmarkA-2 \t 10 \t 101 ns/op"
	text := "goos: linux\n" + a + "\nBenchmarkA/x-2 \t 1 \t 1 ns/op\n" + b + "\n"
	if got, err := resultLines(text+a+"\n", "BenchmarkA-2", 2); got != a+"\n"+b || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := resultLines(text, "BenchmarkA-2", 3); got != "" || err == nil || !strings.HasPrefix(err.Error(), "printed 2 of 3 results") {
		t.Errorf("%q, %v", got, err)
	}
}

// A node is a benchmark with its sub-benchmarks.
type node struct {
	name string
	subs []node
}

func (n node) run(b *testing.B) {
	for _, s := range n.subs {
		b.Run(s.name, s.run)
	}
}

func (n node) leaves() int {
	if len(n.subs) == 0 {
		return 1
	}
	sum := 0
	for _, s := range n.subs {
		sum += s.leaves()
	}
	return sum
}

// runBenchmarks lets package testing itself run benchmarks, and returns what it
// prints.
func runBenchmarks(t *testing.T, n node, bench, skip string) string {
	for name, value := range map[string]string{"test.bench": bench, "test.skip": skip, "test.benchtime": "1x", "test.v": "true"} {
		f := flag.Lookup(name)
		old := f.Value.String()
		must(t, f.Value.Set(value))
		defer func() { _ = f.Value.Set(old) }()
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	read := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		read <- b
	}()
	testing.RunBenchmarks(regexp.MatchString, []testing.InternalBenchmark{{Name: "BenchmarkX", F: n.run}, {Name: "BenchmarkXX", F: node{}.run}})
	os.Stdout = stdout
	w.Close()
	defer r.Close()
	return string(bytes.TrimSpace(<-read))
}

// Whatever benchmarks are called, testing runs by a case's patterns that case
// and no other. testing itself is the oracle.
func TestPatternsMatchTheirCaseOnly(t *testing.T) {
	if f := flag.Lookup("test.cpu"); f.Value.String() != "" {
		t.Skip("testing runs each benchmark several times")
	}
	word := rapid.StringOfN(rapid.RuneFrom([]rune("ab/ #01=()[]|\\.*+?^$-2é\x00\n\"_")), 0, 4, -1)
	trees := rapid.Custom(func(t *rapid.T) node {
		var top node
		for range rapid.IntRange(1, 4).Draw(t, "benchmarks") {
			n := node{name: word.Draw(t, "name")}
			for range rapid.IntRange(0, 2).Draw(t, "subs") {
				n.subs = append(n.subs, node{name: word.Draw(t, "sub")})
			}
			top.subs = append(top.subs, n)
		}
		return top
	})
	procs := runtime.GOMAXPROCS(0)
	// Names that are hard for their neighbours, and some at random. Few, because
	// testing collects garbage before each.
	hard := node{subs: []node{
		{name: "a"},
		{name: "a"},
		{name: "a#01"},
		{name: "a/b"},
		{name: "a/"},
		{name: ""},
		{name: "a|b"},
		{name: "(a"},
		{name: "a b"},
		{name: "a_b"},
		{name: "a-2"},
		{name: "c", subs: []node{{name: "a"}, {name: "[/]"}}},
		{name: "c/a"},
	}}
	trials := 8
	if os.Getenv("DYNO_NIGHTLY") != "" {
		trials = 50
	}
	for seed := range trials {
		top := hard
		if seed > 0 {
			top = trees.Example(seed)
		}
		all := listedIn(runBenchmarks(t, top, ".", ""), procs)
		if len(all.Cases) != top.leaves()+1 {
			t.Fatalf("listed %+v, want %d", all.Cases, top.leaves()+1)
		}
		for _, c := range all.Cases {
			got := listedIn(runBenchmarks(t, top, c.Pattern(), c.Beneath()), procs)
			if !slices.Equal(got.Cases, []record.Case{c}) {
				t.Errorf("%+v by %q without %q: %+v", c, c.Pattern(), c.Beneath(), got.Cases)
			}
		}
		one := all.Cases[seed%len(all.Cases)]
		without := listedIn(runBenchmarks(t, top, ".", one.Pattern()), procs)
		if slices.Contains(without.Cases, one) {
			t.Errorf("%+v is listed although it is skipped", one)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	for _, good := range []string{".", "", "/workload=(short|stream)", "a[/]b", "(a/b)|c", "a|b/c", `\(/x`, "a]/b", "Group/(x/[)])"} {
		if err := record.CheckPattern(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"(", "a/(b", "a|*", "[/", "a/[b|c"} {
		if err := record.CheckPattern(bad); err == nil || !strings.HasPrefix(err.Error(), "--bench ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestNoMatch(t *testing.T) {
	known := []record.Case{
		{Pkg: "p", Name: "BenchmarkGroup/workload=short/impl=channel"},
		{Pkg: "p", Name: "BenchmarkGroup/workload=stream/impl=channel"},
		{Pkg: "p", Name: "BenchmarkGroup/workload=stream/impl=lockbased"},
	}
	for bench, want := range map[string]string{
		"shrot":                       `"workload=short"`,
		"workload=steram":             `"workload=stream"`,
		"BenchmarkGruop":              `"BenchmarkGroup"`,
		"Gruop":                       `"BenchmarkGroup"`,
		"LOCKBASD":                    `"impl=lockbased"`,
		"workload=stream/impl=channl": `"workload=stream/impl=channel"`,
	} {
		err := NoMatch(bench, known).Error()
		if !strings.Contains(err, "the nearest names are "+want) {
			t.Errorf("%s: %s\nwant %s first", bench, err, want)
		}
	}
	if err := NoMatch("x", nil); err == nil || !strings.Contains(err.Error(), "no benchmarks that can run") {
		t.Errorf("without benchmarks: %v", err)
	}
}
