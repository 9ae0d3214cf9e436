package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSlices(t *testing.T) {
	ms := time.Millisecond
	for want, s := range map[string]Slices{
		"n=16384 warmup=9 steady=false gcs=3 ns=5,-,7":    {N: 16384, Warmup: 9, Steady: false, GCs: 3, Ns: []int64{5, Lost, 7}},
		"n=1 warmup=0 steady=true gcs=0 ns=1":             {N: 1, Steady: true, Ns: []int64{1}},
		"n=1 warmup=0 steady=true gcs=0 whole=true ns=1":  {N: 1, Steady: true, Whole: true, Ns: []int64{1}},
		"n=1 warmup=0 steady=true gcs=0 row-ms=2500 ns=1": {N: 1, Steady: true, Took: 2500 * ms, Ns: []int64{1}},
		"n=1 warmup=0 steady=true gcs=0 rare=0.025 ns=1":  {N: 1, Steady: true, Rare: 0.025, Ns: []int64{1}},
		"n=1 warmup=0 steady=true gcs=0 ns=1,2 cpu-us=3,0": {
			N: 1, Steady: true, Ns: []int64{1, 2}, CPU: []time.Duration{3 * time.Microsecond, 0},
		},
		"n=2 warmup=4 steady=true gcs=5 whole=true row-ms=60 rare=1e-05 ns=7000000000000,- cpu-us=9000000000,8": {
			N: 2, Warmup: 4, Steady: true, GCs: 5, Whole: true, Took: 60 * ms, Rare: 1e-5, Ns: []int64{7e12, Lost},
			CPU: []time.Duration{9000 * time.Second, 8 * time.Microsecond},
		},
	} {
		if got := s.Line(); got != SlicesMark+want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, err := parseSlices(want); err != nil || fmt.Sprint(got) != fmt.Sprint(s) {
			t.Errorf("%+v, %v; want %+v", got, err, s)
		}
	}
	if got, err := parseSlices("later=x ns=8 n=1"); err != nil || got.N != 1 || !got.Steady || got.Whole || got.Took != 0 || !slices.Equal(got.Ns, []int64{8}) || got.CPU != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"", "n=1", "ns=1", "n=0 ns=1", "n=x ns=1", "n=1 ns=", "n=1 ns=1,", "n=1 ns=1,,2", "n=1 ns=-1", "n=1 ns=1.5", "n=1 ns=99999999999999999999",
		"n=1 warmup=x ns=1", "n=1 gcs=-1 ns=1", `n=1 ns="1`, "n",
		"n=1 row-ms=x ns=1", "n=1 row-ms=-5 ns=1", "n=1 row-ms=9223372036855000 ns=1", "n=1 rare=x ns=1", "n=1 rare=-0.1 ns=1", "n=1 rare=NaN ns=1", "n=1 rare=Inf ns=1",
		"n=1 ns=1 cpu-us=x", "n=1 ns=1 cpu-us=-1", "n=1 ns=1 cpu-us=9223372036855000", "n=1 ns=1,2 cpu-us=1", "n=1 ns=1 cpu-us=1,2", "n=1 ns=1 cpu-us=-",
	} {
		if got, err := parseSlices(bad); err == nil || !strings.HasPrefix(err.Error(), "malformed line of slices: ") {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
}

// A line of slices, of a hole or of a clause that is read gives the same line again, and
// the same of it.
func FuzzLines(f *testing.F) {
	for _, line := range []string{
		"# slices: n=100 warmup=3 steady=true gcs=0 ns=10000,-,10100",
		"# slices: n=100 warmup=3 steady=true gcs=2 whole=true row-ms=350 rare=0.0234 ns=10000,10100 cpu-us=12,15",
		`# slices: ns=1 n=1 other="x y"`,
		`# hole: case=BenchmarkX-2 block=1 reason="crashed: \"x\""`, `# skip: pkg=p reason=none`, `# skip: case="X/y=z" reason=r`,
		`# hole: pkg=p side=new reason="crashed: panic: oh (p.go:3)"`, `# hole: case=`, `# hole: =`, `# hole: case="`, "# hole: case=\"a\\nb\"", "# hole: case=X case=Y",
		`# conform: impl=serial clause=group/a result=fail outcome="out of memory" why="\"x\""`, `# conform: impl=a clause=b result=pass`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for l := range Lines(text) {
			var read, again any
			var err, err2 error
			switch l.Mark {
			case SlicesMark:
				var s Slices
				s, err = parseSlices(l.Rest)
				now, e := parseSlices(strings.TrimPrefix(s.Line(), SlicesMark))
				s.Rare = now.Rare // three digits of it
				read, again, err2 = fmt.Sprint(s, s.Line()), fmt.Sprint(now, now.Line()), e
			case HoleMark, SkipMark:
				var h Hole
				h, err = parseHole(l.Rest, l.Mark == SkipMark)
				if err == nil && h.Case != "" && (strings.ContainsAny(h.Case, " \t\n\r") || !strings.HasPrefix(h.Case, ResultMark)) {
					t.Errorf("case %q is no benchmark name", h.Case)
				}
				if strings.ContainsAny(h.Pkg+h.Block+h.Side+h.Case, " \t\"") {
					continue
				}
				now, e := parseHole(h.Line()[len(l.Mark):], h.Skipped)
				if h.Case != "" {
					now.Pkg, h.Pkg = "", "" // it is in the line before
				}
				read, again, err2 = h, now, e
			case ClauseMark:
				var c BoardClause
				if c, err = parseClause(l.Rest); strings.ContainsAny(c.Impl+c.Name, "\"") {
					continue
				}
				again, err2 = parseClause(strings.TrimPrefix(c.Line(), ClauseMark))
				read = c
			}
			if err == nil && (err2 != nil || read != again) {
				t.Errorf("%q is read as %+v, and that as %+v, %v", l.Text, read, again, err2)
			}
		}
	})
}
