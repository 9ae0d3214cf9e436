package peers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/conformance/conformtest"
)

// semantics are the clauses of task groups that say what a user of a peer wants to know.
var semantics = []struct {
	what    string
	clauses string // below group/
}{
	{"limit: no more tasks at once, and all places come back", "limit-respected limit-never-exceeded"},
	{"order: results as tasks complete, each once", "next-completion-order next-oldest-first next-result-once"},
	{"first error: `Wait` waits for all and says the first", "wait-for-all wait-first-by-completion wait-remembers wait-many-callers"},
	{"fail-fast: the first error cancels the others, with itself as the cause, and all have a result", "failfast-cancels failfast-keeps-tasks failfast-error-is-first"},
	{"panics: are the error of their task", "panic-is-an-error limit-slot-back-after-failure failfast-off"},
	{"`runtime.Goexit`: ends its task only", "goexit-is-an-error goexit-slot-back"},
	{"cancellation: reaches tasks", "cancel-reaches-tasks"},
	{"cancellation: `Wait` returns its cause", "wait-cause parent"},
	{"close: accepted tasks run", "close-does-not-cancel close-keeps-results"},
	{"nothing is left: contexts and results are let go", "context-released results-not-retained"},
}

// peerKey names the peer whose clauses a child runs.
const peerKey = "DYNO_PEER"

// TestClause is the conformance suite of a peer, for children of TestSemantics: each runs one
// clause, since a clause that a peer does not keep may end the process.
func TestClause(t *testing.T) {
	for _, p := range Groups() {
		if p.Name == os.Getenv(peerKey) {
			conformtest.Run(t, p.Impl())
			return
		}
	}
	t.Skipf("%s names no peer", peerKey)
}

// atOnce is how many clauses are checked at a time: those that hang only wait.
const atOnce = 8

// check returns which clauses which peers pass, each as peer and clause.
func check(t *testing.T) map[[2]string]bool {
	var (
		work errgroup.Group
		mu   sync.Mutex // guards kept
	)
	kept := make(map[[2]string]bool)
	work.SetLimit(atOnce)
	for _, s := range semantics {
		for clause := range strings.FieldsSeq(s.clauses) {
			for _, p := range Groups() {
				work.Go(func() error {
					ok, err := keeps(t.Context(), p.Name, clause)
					mu.Lock()
					defer mu.Unlock()
					kept[[2]string{p.Name, clause}] = ok
					return err
				})
			}
		}
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	return kept
}

// keeps reports whether a peer passes a clause.
func keeps(ctx context.Context, peer, clause string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.short", "-test.v", "-test.run=^TestClause$/^group$/^"+clause+"$")
	cmd.Env = append(os.Environ(), peerKey+"="+peer)
	out, err := cmd.CombinedOutput()
	if err == nil && !strings.Contains(string(out), "--- PASS: TestClause/group/"+clause) {
		return false, fmt.Errorf("there is no clause %s, or it is skipped for %s:\n%s", clause, peer, out)
	}
	return err == nil, nil
}

// updateKey has TestSemantics write the table.
const updateKey = "DYNO_UPDATE"

// TestSemantics compares the table in README.md with what the suite says. It takes
// minutes, nearly all of them waiting for clauses that hang.
func TestSemantics(t *testing.T) {
	if os.Getenv("DYNO_NIGHTLY") == "" && os.Getenv(updateKey) == "" {
		t.Skip("with DYNO_NIGHTLY or " + updateKey + " only")
	}
	const page, begin, end = "README.md", "<!-- semantics begin -->\n", "<!-- semantics end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), begin)
	was, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", page)
	}
	is := table(check(t))
	switch {
	case was == is:
	case os.Getenv(updateKey) == "":
		t.Errorf("the table is not current; %s=1 go test -run TestSemantics . writes\n%s", updateKey, is)
	default:
		if err := os.WriteFile(page, []byte(before+begin+is+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// table says in Markdown which clauses are kept.
func table(kept map[[2]string]bool) string {
	is := "| |"
	for _, p := range Groups() {
		is += " `" + p.Column() + "` |"
	}
	is += "\n|---|" + strings.Repeat("---|", len(Groups())) + "\n"
	for _, s := range semantics {
		is += "| " + s.what + " |"
		for _, p := range Groups() {
			is += " " + cell(strings.Fields(s.clauses), func(clause string) bool { return kept[[2]string{p.Name, clause}] }) + " |"
		}
		is += "\n"
	}
	return is
}

// cell says how many clauses are kept, and names the others unless none is.
func cell(clauses []string, kept func(clause string) bool) string {
	broken := slices.DeleteFunc(slices.Clone(clauses), kept)
	switch len(broken) {
	case 0:
		return "kept"
	case len(clauses):
		return "not kept"
	}
	return fmt.Sprintf("%d of %d; not `%s`", len(clauses)-len(broken), len(clauses), strings.Join(broken, "`, `"))
}
