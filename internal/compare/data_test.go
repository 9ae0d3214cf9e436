package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/recordtest"
)

// What was read is compared with any options, in any order, as if it had just been read.
func TestDataIsComparedManyTimes(t *testing.T) {
	host := recordtest.Write(t, "host.bench", blocks(8, "BenchmarkX/impl=ref-a 1 100~ ns/op 8 B/op", "BenchmarkX/impl=b 1 200~ ns/op NaN B/op", "BenchmarkY/impl=b 1 300~ ns/op")+
		"# hole: case=BenchmarkY/impl=ref-a block=2 reason=r\n# hole: pkg=p reason=s\n")
	other := recordtest.Write(t, "host.bench", blocks(8, "BenchmarkX/impl=ref-a 1 100~ ns/op", "BenchmarkX/impl=b 1 50~ ns/op"))
	d, err := Read([]string{host, other, "new=" + other}, nil)
	if err != nil {
		t.Fatal(err)
	}
	options := []Options{{}, {Col: "/impl", Base: "b"}, {Filter: ".unit:B/op"}, {Filter: ".file:new"}, {Col: ".file"}, {Alpha: 0.2, Margin: 0.3}, {alone: true}, {}}
	for _, o := range options {
		c, err := d.Compare(o)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := Compare([]string{host, other, "new=" + other}, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprintf("%+v", c), fmt.Sprintf("%+v", fresh); shown(got) != shown(want) {
			t.Errorf("%+v:\n got %s\nwant %s", o, got, want)
		}
		c.Files, c.Warnings, c.Calibrations = nil, append(c.Warnings, "more"), []CalibrationQuote{{}} // the caller's own
	}
	// Each file alone has the label that it would have if it had been read alone.
	var labels []string
	for _, one := range d.Each() {
		c, err := one.Compare(Options{Col: ".file"})
		if err != nil {
			t.Fatal(err)
		}
		labels = append(labels, c.Files[0].Label+" "+c.Tables[0].Cols[0].Name)
	}
	if want := []string{"host.bench host.bench", "host.bench host.bench", "new new"}; !slices.Equal(labels, want) || d.sources[0].file.Label != host {
		t.Errorf("labels %q, want %q", labels, want)
	}
	if c, err := d.Compare(Options{Col: ".file"}); err != nil || c.Tables[0].Cols[0].Name != host {
		t.Errorf("together: %+v, %v", c, err)
	}
	// One unit alone is as it is among all.
	all, err1 := d.Compare(Options{Col: "/impl"})
	one, err2 := d.Compare(Options{Col: "/impl", Unit: "B/op"})
	if err1 != nil || err2 != nil || len(all.Tables) != 2 || len(one.Tables) != 1 || shown(fmt.Sprintf("%+v", one.Tables[0])) != shown(fmt.Sprintf("%+v", all.Tables[1])) {
		t.Errorf("%v, %v: %+v in one unit, %+v in all", err1, err2, one, all)
	}
	if _, err := d.Compare(Options{Alpha: 2}); err == nil || !strings.Contains(err.Error(), "alpha is 2") {
		t.Errorf("alpha of 2: %v", err)
	}
}

// shown is a comparison as it is printed, without the addresses that are in it.
func shown(c string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(c, "0x") {
		out.WriteString(strings.TrimLeft(part, "0123456789abcdef"))
	}
	return out.String()
}

// What several files say of a unit must agree; what the first of them says counts.
func TestFilesDisagreeOnAUnit(t *testing.T) {
	a := recordtest.Write(t, "a.bench", "Unit x better=lower\n"+blocks(8, "BenchmarkX 1 10~ x"))
	b := recordtest.Write(t, "b.bench", "commit: c\nUnit x better=higher\n"+blocks(8, "BenchmarkX 1 20~ x"))
	c, err := Compare([]string{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := b + ":2: metadata better of unit x already set to lower"; !slices.Equal(c.Problems, []string{want}) || c.Tables[0].Better != -1 {
		t.Errorf("problems %q, better %d", c.Problems, c.Tables[0].Better)
	}
	d, err := Read([]string{a, b}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := d.Each()[1].Compare(Options{}); err != nil || len(c.Problems) != 0 || c.Tables[0].Better != 1 {
		t.Errorf("alone: %+v, %v", c, err)
	}
}
