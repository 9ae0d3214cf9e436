package report

import (
	"testing"

	"github.com/dynolab/dyno/internal/bisect"
)

// TestSuspected: the sentence claims 95 % of a set that a search has narrowed, and nothing
// of all candidates.
func TestSuspected(t *testing.T) {
	commits := []bisect.Commit{{Hash: "aaaaaaaaaaaa", Subject: "one"}, {Hash: "bbbbbbbbbbbb", Subject: "two"}}
	ratio := 1.1
	up := bisect.Change{Ratio: &ratio, Verdict: "slower"}
	for _, c := range []struct {
		name       string
		candidates int
		change     *bisect.Change
		commits    []bisect.Commit
		want       string
	}{
		{"narrowed", 9, nil, commits, "One of 2 commits, with a probability of 95 %, and none of them is proven: why."},
		{"all", 2, nil, commits, "No commit is ruled out, it may be any of 2: why."},
		{"one", 9, nil, commits[:1], "aaaaaaaaaaaa \"one\" is likely to be it, with a probability of 95 %, and that is not proven: why."},
		{"together", 2, &up, commits, "One of 2 commits makes X 10.00 % slower, which is proven of all together: why."},
	} {
		r := &bisect.Result{Benchmark: "X", Candidates: c.candidates}
		got := suspected(r, bisect.Suspected{Commits: c.commits, Change: c.change, Why: "why"})[0].(Paragraph).Text
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
