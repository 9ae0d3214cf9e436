package report

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
)

// clausesBench is a file of a board that ran clauses, one of them twice.
const clausesBench = `board: tiny-qemu
emulated: yes
BenchmarkBoard/case=image/parts=conform/impl=serial 1 100 flash-B
# conform: impl=serial clause=group/a result=pass
# conform: impl=serial clause=group/b result=skip why="needs Heap, which this platform does not have"
# conform: impl=serial clause=group/c result=fail outcome="out of memory" why="panic: out of <memory>"
# conform: impl=serial clause=group/d result=fail outcome="wrong result" why="got 1, want 2"
# conform: impl=serial clause=group/a result=fail outcome="hung" why="no line for 1m0s"
# conform: impl=serial clause=group/e result=skip why="needs Heap, which this platform does not have"
# conform: impl=channel clause=group/a result=pass
# conform: impl=channel clause=group/b result=pass
`

// Every form of a report counts the clauses, and says why some failed or were skipped.
func TestReportsShowClauses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFixture(t, path, []byte(text))
		return path
	}
	board := write("board.bench", clausesBench)
	host := write("host.bench", "machine: host\nBenchmarkX/impl=serial 1 5 ns/op\n")
	c, err := compare.Compare([]string{board}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := compare.Read([]string{host, board}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.SideBySide(compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	forms := formsOf(t, c)
	forms["side in text"] = plainText(t, SideBySide(s, Terminal, nil))
	forms["side in markdown"] = markdownOf(t, SideBySide(s, Document, nil))
	forms["side in HTML"] = string(render(t, SideBySide(s, Page, nil).HTML))
	for name, out := range forms {
		wants := []string{
			"Clauses of the contracts", "3 (1 hung, 1 out of memory, 1 wrong result)", "group/a with serial", "hung: no line for 1m0s",
			"group/d with serial", "wrong result: got 1, want 2", "2 skipped: needs Heap, which this platform does not have",
		}
		if strings.HasSuffix(name, "HTML") {
			wants = append(wants, `href="#clauses"`, "out of &lt;memory&gt;")
		}
		mentions(t, out, wants...)
	}
	var doc struct {
		Files []struct {
			Clauses []struct{ Implementation, Clause, Result, Outcome, Why string }
		}
	}
	if err := json.Unmarshal([]byte(jsonOf(t, c, nil)), &doc); err != nil {
		t.Fatal(err)
	}
	if all := doc.Files[0].Clauses; len(all) != 8 || all[2].Clause != "group/c" || all[2].Implementation != "serial" || all[2].Result != "fail" || all[2].Outcome != "out of memory" || all[2].Why != "panic: out of <memory>" {
		t.Errorf("JSON has %+v", all)
	}
	// A file without clauses has no word of them.
	plain, err := compare.Compare([]string{host}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	forms = formsOf(t, plain)
	forms["JSON"] = jsonOf(t, plain, nil)
	for name, out := range forms {
		if strings.Contains(out, "Clauses of the contracts") || strings.Contains(out, `"clauses"`) {
			t.Errorf("%s of a file without clauses:\n%s", name, out)
		}
	}
}
