package report

import (
	"testing"

	"github.com/dynolab/dyno/internal/bisect"
)

// TestSuspected: the sentence claims 95 % of a set that a search has narrowed, and nothing
// of others.
func TestSuspected(t *testing.T) {
	commits := []bisect.Commit{{Hash: "aaaaaaaaaaaa", Subject: "one"}, {Hash: "bbbbbbbbbbbb", Subject: "two"}}
	ratio := 1.1
	up := bisect.Change{Ratio: &ratio, Verdict: "slower"}
	for _, c := range []struct {
		name     string
		narrowed bool
		culprits int
		change   *bisect.Change
		commits  []bisect.Commit
		want     string
	}{
		{"narrowed", true, 1, nil, commits, "One of 2 commits, with a probability of 95 %, and none of them is proven: why."},
		{"all", false, 0, nil, commits, "No commit is ruled out, it may be any of 2: why."},
		{"one", true, 0, nil, commits[:1], "aaaaaaaaaaaa \"one\" is likely to be it, with a probability of 95 %, and that is not proven: why."},
		{"together", true, 0, &up, commits, "One of 2 commits makes X 10.00 % slower, which is proven of all together: why."},
		{"a rest", false, 1, nil, commits[:1], "More differs than is proven, and it may be any of 1 commit: why."},
	} {
		r := &bisect.Result{Benchmark: "X", Culprits: make([]bisect.Culprit, c.culprits)}
		got := suspected(r, bisect.Suspected{Commits: c.commits, Narrowed: c.narrowed, Change: c.change, Why: "why"})[0].(Paragraph).Text
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
