package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

const keptAB = "../../results/amd-epyc-2c-linux-amd64/truth-20261122-174512-37b33975-ab.bench"

// What is said of one comparison alone does not depend on which others a filter leaves in, and
// what a run says of rows that are left out is not said.
func TestFilterChangesNoInterval(t *testing.T) {
	path := filepath.FromSlash(keptAB)
	all, err := Compare([]string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Files[0].Told) == 0 {
		t.Fatal("the sample has no notes of rows")
	}
	for _, filter := range []string{".name:ReusedLoop", ".name:(ReusedLoop OR Work5Loop)", ".name:ReusedLoop .unit:ns/op", ".unit:ns/op"} {
		c, err := Compare([]string{path}, Options{Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		_, _, want := cellAt(t, all, "ns/op", "ReusedLoop-2", "new")
		_, _, got := cellAt(t, c, "ns/op", "ReusedLoop-2", "new")
		if got.Vs.Ratio != want.Vs.Ratio || got.Vs.Lo != want.Vs.Lo || got.Vs.Hi != want.Vs.Hi || got.Vs.P != want.Vs.P {
			t.Errorf("%s: %v (%v to %v), p %v; without a filter %v (%v to %v), p %v", filter,
				got.Vs.Ratio, got.Vs.Lo, got.Vs.Hi, got.Vs.P, want.Vs.Ratio, want.Vs.Lo, want.Vs.Hi, want.Vs.P)
		}
		if !strings.Contains(filter, ".name") {
			continue
		}
		for _, warning := range c.Warnings {
			if name, _, told := strings.Cut(warning, "-2: "); told && name != "ReusedLoop" && name != "Work5Loop" {
				t.Errorf("%s: of what is left out: %s", filter, warning)
			}
		}
	}
}

// A file whose run has not ended says how many blocks are complete, of how many.
func TestUnfinishedRun(t *testing.T) {
	data, err := os.ReadFile(filepath.FromSlash(keptAB))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	whole := Of(record.Read("a.bench", []byte(text)))
	planned := whole.sources[0].from.Planned
	if f := whole.sources[0].file; planned < 4 || f.Planned != 0 || f.Ended != 0 {
		t.Fatalf("the whole file: %d planned, %+v", planned, f)
	}
	_, rest, ok := strings.Cut(text, "# end of block 3\n")
	if !ok {
		t.Fatal("the sample has no third block")
	}
	part := text[:len(text)-len(rest)+200] // the fourth has begun
	if f := Of(record.Read("a.bench", []byte(part))).sources[0].file; f.Planned != planned || f.Ended != 3 {
		t.Errorf("%d of %d blocks, want 3 of %d", f.Ended, f.Planned, planned)
	}
}
