package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// sessionFiles compare the same old version with the same new one, by benchrun ab, at two times
// of a day: how points of a series scatter that measures each week against one old version.
var sessionFiles = []string{
	"truth-20261122-155231-3fac3f03-ab.bench", "truth-20261122-160413-3fac3f03-ab.bench",
}

// A pair is a program of which one of two versions is measured against the other: the logarithms
// of the ratios of its blocks at each time, less the mean of all times.
type pair struct {
	name   string
	blocks [][]float64
}

// readPairs reads those of the session files.
func readPairs(t *testing.T) (pairs []pair) {
	t.Helper()
	for _, file := range sessionFiles {
		path := filepath.Join("../../results", noiseMachine, file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		type side struct{ sum, n float64 }
		type at struct{ name, block string }
		sides := make(map[at]map[string]side)
		var order []at
		for _, rec := range record.Read(path, data).Results {
			v, ok := rec.Result.Value("sec/op")
			k := at{string(rec.Result.Name), rec.Result.GetConfig("block")}
			if !ok {
				continue
			}
			if sides[k] == nil {
				sides[k], order = make(map[string]side), append(order, k)
			}
			s := sides[k][rec.Result.GetConfig(record.SideKey)]
			sides[k][rec.Result.GetConfig(record.SideKey)] = side{s.sum + v, s.n + 1} // old is there twice
		}
		begun := make(map[string]bool)
		for _, k := range order {
			i := slices.IndexFunc(pairs, func(p pair) bool { return p.name == k.name })
			if i < 0 {
				i, pairs = len(pairs), append(pairs, pair{name: k.name})
			}
			if !begun[k.name] {
				begun[k.name] = true
				pairs[i].blocks = append(pairs[i].blocks, nil)
			}
			before, now := sides[k][record.SideOld], sides[k][record.SideNew]
			if before.n > 0 && now.n > 0 {
				last := &pairs[i].blocks[len(pairs[i].blocks)-1]
				*last = append(*last, math.Log(now.sum/now.n/(before.sum/before.n)))
			}
		}
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return len(p.blocks) < 2 })
	for _, p := range pairs {
		middle := 0.0
		for _, b := range p.blocks {
			middle += mean(b) / float64(len(p.blocks))
		}
		for _, b := range p.blocks {
			for i := range b {
				b[i] -= middle
			}
		}
	}
	return pairs
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// point draws what benchrun ab would say another time: of blocks as they were at one of the times.
func (p pair) point(r *rand.Rand) (sum float64) {
	blocks := p.blocks[r.IntN(len(p.blocks))]
	for range runBlocks {
		sum += blocks[r.IntN(len(blocks))] / runBlocks
	}
	return sum
}

// quarterly counts of how many quarters of a project, which measures all pairs once a week, a
// change of 5 % of one pair from the seventh week on is suspected; of each pair, and by how much
// its points scatter. Others counts what is suspected of pairs that did not change.
func quarterly(pairs []pair, quarters int) (found []int, scatter []float64, others int) {
	r := rand.New(rand.NewPCG(13, 5))
	for i, p := range pairs {
		hits := 0
		for range quarters {
			var all [][]float64
			for k, other := range pairs {
				var weeks []float64
				for week := range 13 {
					v := other.point(r)
					if k == i && week >= 6 {
						v += math.Log1p(0.05)
					}
					weeks = append(weeks, v)
				}
				all = append(all, weeks)
			}
			h := historyOf(all...)
			h.suspect()
			hit := false
			for _, s := range h.Steps() {
				if s.Series.Name == fmt.Sprint("X/n=", i) {
					hit = hit || s.Step.Log > 0
				} else {
					others++
				}
			}
			if hit {
				hits++
			}
		}
		var points []float64
		for other := rand.New(rand.NewPCG(13, 6)); len(points) < 500; {
			points = append(points, p.point(other))
		}
		_, sd := standardized(points)
		found, scatter = append(found, hits), append(scatter, sd)
	}
	return found, scatter, others
}

// quarterTable sums up by how much points scatter.
func quarterTable(t *testing.T, quarters int) string {
	pairs := readPairs(t)
	found, scatter, others := quarterly(pairs, quarters)
	var b strings.Builder
	fmt.Fprintf(&b, "| Points scatter by | programs | quarters | in which +5 %% was suspected |\n|---|---|---|---|\n")
	from := 0.0
	for _, to := range []float64{0.0055, 0.011, 0.022, 1} {
		programs, hits := 0, 0
		for i, sd := range scatter {
			if sd > from && sd <= to {
				programs, hits = programs+1, hits+found[i]
			}
		}
		what := fmt.Sprintf("more than %.2g %%", 100*from)
		if to < 1 {
			what = fmt.Sprintf("%.2g to %.2g %%", 100*from, 100*to)
		}
		if programs > 0 {
			fmt.Fprintf(&b, "| %s | %d | %d | %.0f %% |\n", what, programs, programs*quarters, 100*float64(hits)/float64(programs*quarters))
		}
		from = to
	}
	fmt.Fprintf(&b, "\nOf the %d series in them that did not change %d were suspected.\n", len(pairs)*(len(pairs)-1)*quarters, others)
	return b.String()
}

// TestQuarter: who runs benchrun ab once a week against the same old version sees 5 % in a
// quarter, if its points scatter as most of our own do.
func TestQuarter(t *testing.T) {
	const quarters = 3
	pairs := readPairs(t)
	found, scatter, others := quarterly(pairs, quarters)
	able, hits := 0, 0
	for i, sd := range scatter {
		if sd <= 0.011 {
			able, hits = able+1, hits+found[i]
		}
	}
	t.Logf("%d of %d programs scatter by 1.1 %% or less: found in %d of %d quarters; %d others", able, len(pairs), hits, able*quarters, others)
	if len(pairs) < 30 || able*10 < len(pairs)*6 {
		t.Errorf("%d of %d programs scatter by 1.1 %% or less", able, len(pairs))
	}
	if hits*10 < able*quarters*9 || others*5 > len(pairs)*quarters {
		t.Errorf("found in %d of %d quarters, and %d that are not there", hits, able*quarters, others)
	}
}
