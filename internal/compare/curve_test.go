package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// curvesOf returns the curves of a text's first table, as text.
func curvesOf(t *testing.T, text string) []string {
	t.Helper()
	c, err := Compare([]string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, curve := range c.Tables[0].Curves() {
		line := strings.TrimSpace(curve.Pkg+" "+curve.Name) + " by " + curve.Key + ":"
		for _, p := range curve.Points {
			line += fmt.Sprintf(" %g(%s)", p.X, c.Tables[0].Rows[p.Row].Name)
		}
		for i, rise := range curve.Rise {
			line += fmt.Sprintf(" %s×%.3g", c.Tables[0].Cols[i].Name, rise)
		}
		got = append(got, line)
	}
	return got
}

func TestCurves(t *testing.T) {
	lines := func(names ...string) string {
		var b strings.Builder
		for i, name := range names {
			fmt.Fprintf(&b, "Benchmark%s 1 %d ns/op\n", name, 10*(i+1))
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{
			"by a key, sorted, the plain name left out",
			lines("R/n=1000/impl=a-2", "R/n=2/impl=a-2", "R/n=30/impl=a-2", "R/impl=a-2"),
			[]string{"R-2 by n: 2(R/n=2-2) 30(R/n=30-2) 1000(R/n=1000-2) a×0.5"},
		},
		{"two points are none", lines("R/n=1000/impl=a", "R/n=2/impl=a"), nil},
		{"words are none", lines("R/n=x/impl=a", "R/n=y/impl=a", "R/n=z/impl=a"), nil},
		{"numbers that have no logarithm are none", lines("R/n=0/impl=a", "R/n=-1/impl=a", "R/n=Inf/impl=a", "R/n=NaN/impl=a"), nil},
		{"one number written twice is one point", lines("R/n=1/impl=a", "R/n=01/impl=a", "R/n=2/impl=a"), nil},
		{
			"by GOMAXPROCS, which is not written if it is 1",
			lines("R/impl=a", "R/impl=a-2", "R/impl=a-8"),
			[]string{"R by GOMAXPROCS: 1(R) 2(R-2) 8(R-8) a×3"},
		},
		{"a negative number is none", lines("R/n=-1", "R/n=-2", "R/n=-3"), nil},
		{"with GOMAXPROCS 1 the end of a name is no processor", lines("R/size-10", "R/size-100", "R/size-1000", "S"), nil},
		{
			"a number that others have with and without is GOMAXPROCS",
			lines("R/n=1-2", "R/n=2-2", "R/n=3-2", "S", "S-2"),
			[]string{"R-2 by n: 1(R/n=1-2) 2(R/n=2-2) 3(R/n=3-2) -×3"},
		},
		{
			"other parts keep curves apart",
			lines("R/n=1/impl=a", "S/n=2/impl=a", "R/n=2/k=v/impl=a", "R/n=3/impl=a", "R/n=4/k=v/impl=a", "R/n=5-2", "R/n=9/k=v/impl=a"),
			[]string{"R/k=v by n: 2(R/n=2/k=v) 4(R/n=4/k=v) 9(R/n=9/k=v) a×2.33 (no /impl)×NaN"},
		},
		{
			"one row on two curves",
			lines("R/n=1/impl=a", "R/n=2/impl=a", "R/n=3/impl=a", "R/n=3/impl=a-2", "R/n=3/impl=a-4"),
			[]string{
				"R by n: 1(R/n=1) 2(R/n=2) 3(R/n=3) a×3",
				"R/n=3 by GOMAXPROCS: 1(R/n=3) 2(R/n=3-2) 4(R/n=3-4) a×1.67",
			},
		},
		{
			"a column that lacks an end has no rise",
			lines("R/n=1/impl=a", "R/n=2/impl=a", "R/n=3/impl=a", "R/n=2/impl=b", "R/n=3/impl=b"),
			[]string{"R by n: 1(R/n=1) 2(R/n=2) 3(R/n=3) a×3 b×NaN"},
		},
		{
			"packages with the same names",
			"pkg: p\n" + lines("R/n=1/impl=a", "R/n=2/impl=a", "R/n=3/impl=a") + "pkg: q\n" + lines("R/n=1/impl=a"),
			[]string{"p R by n: 1(R/n=1) 2(R/n=2) 3(R/n=3) a×3"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := curvesOf(t, c.text); !slices.Equal(got, c.want) {
				t.Errorf("curves\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A value of zero has no rise: it would be infinite, or none.
func TestCurveFromZero(t *testing.T) {
	table := Table{Cols: []Column{{Name: "a"}}}
	for i, n := range []int{1, 2, 3} {
		table.Rows = append(table.Rows, Row{Name: fmt.Sprintf("R/n=%d", n), Cells: []Cell{{N: 1, Center: float64(i)}}})
	}
	if c := table.Curves(); len(c) != 1 || !math.IsNaN(c[0].Rise[0]) {
		t.Errorf("curves %+v, want one without a rise", c)
	}
}
