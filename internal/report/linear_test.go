package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
)

// manyCases are results of so many workloads and of a reference of each, in slices and in several
// units. The targets of pingpong compare with others than the reports do.
func manyCases(n int) []byte {
	var b strings.Builder
	for block := range 8 {
		fmt.Fprintf(&b, "block: %d\nlayout: %d\n", block+1, block)
		for i := range n {
			name := fmt.Sprintf("w%d", i)
			if i == 0 {
				name = "pingpong"
			}
			for k, impl := range []string{"ref-mutex-cond", "workstealing"} {
				ns := 1000 + (31*block+17*i+7*k)%23
				fmt.Fprintf(&b, "case: %d\nBenchmarkActor/workload=%s/impl=%s 1000 %d ns/op %d B/op %d cpu-ns/op\n", 2*i+k, name, impl, ns, 64+block%2, ns+k)
				fmt.Fprintf(&b, "# slices: n=100 warmup=1 steady=true gcs=0 whole=true ns=%s%d\n", strings.Repeat(fmt.Sprintf("%d,", 100*ns), 9), 100*ns)
			}
		}
	}
	return []byte(b.String())
}

// allocatedFor is how many bytes it takes to show so many cases, in all documents.
func allocatedFor(t *testing.T, cases int) float64 {
	var before, after runtime.MemStats
	text := manyCases(cases)
	runtime.ReadMemStats(&before)
	d := compare.Of(record.Read("many.bench", text))
	c, err := d.Compare(compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Tables[0].Rows) != cases || c.Comparisons < cases {
		t.Fatalf("%d rows, %d comparisons", len(c.Tables[0].Rows), c.Comparisons)
	}
	card, err := targets.Measured(d, compare.Options{})
	if err != nil || card == nil {
		t.Fatal(card, err)
	}
	x := Extra{Card: card}
	for _, err := range []error{
		Comparison(c, Screen, x).Text(io.Discard, TextOptions{}), Comparison(c, Terminal, x).Text(io.Discard, TextOptions{}),
		Comparison(c, Document, x).Markdown(io.Discard, MarkdownOptions{}), Comparison(c, Page, x).HTML(io.Discard), JSON(io.Discard, c, card),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// Ten times the cases take about ten times the work: what is asked of each case does not look at all
// of the others.
func TestWorkGrowsWithCases(t *testing.T) {
	allocatedFor(t, 10) // what is allocated once
	few, many := allocatedFor(t, 40), allocatedFor(t, 400)
	if many > 12*few {
		t.Errorf("40 cases take %.0f bytes, and 400 take %.1f times as many", few, many/few)
	}
	if each := many / 400 / 1024; each > 500 { // it was 900 when members and cells were written several times
		t.Errorf("a case takes %.0f KiB", each)
	}
}

// A report that cannot be written leaves the one that is there.
func TestWriteFileAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "r.md")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			return errors.Join(func() error { _, err := io.WriteString(w, s); return err }(), err)
		}
	}
	if err := writeFile(path, text("whole", nil)); err != nil {
		t.Fatal(err)
	}
	err := writeFile(path, text("half", io.ErrUnexpectedEOF))
	data, _ := os.ReadFile(path)
	left, _ := os.ReadDir(filepath.Dir(path))
	if !errors.Is(err, io.ErrUnexpectedEOF) || string(data) != "whole" || len(left) != 1 {
		t.Errorf("%v, %q, %d files", err, data, len(left))
	}
}
