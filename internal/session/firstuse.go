package session

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// The first operation of a process may take longer than all others: a sync.Once, a connection, a table
// that is filled. Warming up leaves that out of the figures. With b.Loop, where go test
// has it in them, the run says so if it is large.

// largeFirstUse is by how much the first operation takes longer for that to be said: it is a
// hundredth of what go test measures by default.
const largeFirstUse = 10 * time.Millisecond

// seenFirstUse is after how many blocks it is said: one process may be late by chance.
const seenFirstUse = 2

// A firstUse is by how much the first operation took longer in a block, by column: the least of its
// processes.
type firstUse map[string]time.Duration

// sayFirstUse says what the first operations of g take, after as many blocks as show it.
func (r *runner) sayFirstUse(g record.Group, sides []*side) {
	if len(r.firstUses[g.Index]) >= seenFirstUse {
		return
	}
	block := make(firstUse)
	for _, p := range sides {
		if p.err != nil {
			continue
		}
		column := cmp.Or(p.step.Case.Side, strings.TrimPrefix(p.step.Case.Name, "Benchmark"))
		if took, ok := block[column]; !ok || p.warm.firstUse < took {
			block[column] = p.warm.firstUse
		}
	}
	blocks := append(r.firstUses[g.Index], block)
	if r.firstUses[g.Index] = blocks; len(blocks) < seenFirstUse {
		return
	}
	var said []string
	for _, p := range sides {
		column := cmp.Or(p.step.Case.Side, strings.TrimPrefix(p.step.Case.Name, "Benchmark"))
		took := time.Duration(math.MaxInt64)
		for _, b := range blocks {
			took = min(took, b[column])
		}
		if took >= largeFirstUse && p.step.Copy <= 1 {
			said = append(said, fmt.Sprintf("%v more in %s", took.Round(max(time.Millisecond, took/100)), column))
		}
	}
	if len(said) > 0 {
		r.say(g, "the first operation of a process takes "+strings.Join(slices.Compact(said), ", ")+", which is in no figure; go test counts it once in each run")
	}
}
