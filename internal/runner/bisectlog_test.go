package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newLog makes a log with two answers in it, and closes it.
func newLog(t *testing.T) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "search")
	l, err := createBisectLog(folder, bisectStart{Good: "aaa", Bad: "bbb", Packages: []string{"."}, Alpha: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []bisectEntry{
		{Do: doBuilt, Key: "ccc", Identity: "one", Seconds: 2},
		{Do: doMeasure, Key: "visit #1", File: "001.bench"},
		{Do: doDone, Key: "visit #1", File: "001.bench", Seconds: 3, Times: &bisectTimes{Block: 0.25}},
		{Do: doMeasure, Key: "visit #2", File: "002.bench"},
	} {
		if err := l.add(e); err != nil {
			t.Fatal(err)
		}
	}
	if l.left != 0 || l.seconds != 5 {
		t.Errorf("%d answers are left and %v s were taken, want none and 5", l.left, l.seconds)
	}
	l.close()
	return folder
}

// TestBisectLog proves that a search that goes on is answered what the log has, once each for
// what was counted, and is told what was begun.
func TestBisectLog(t *testing.T) {
	folder := newLog(t)
	l, err := openBisectLog(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if l.started.Good != "aaa" || l.started.Bad != "bbb" || l.left != 2 || l.seconds != 0 {
		t.Fatalf("it has %+v with %d answers and %v s", l.started, l.left, l.seconds)
	}
	if e, ok := l.answer("ccc"); !ok || e.Identity != "one" || e.At.IsZero() || l.left != 1 || l.seconds != 2 {
		t.Errorf("a build is %+v, %v; %d left, %v s", e, ok, l.left, l.seconds)
	}
	if _, ok := l.answer("ddd"); ok {
		t.Error("what was not built is answered")
	}
	if e, ok := l.answer("visit #1"); !ok || e.Times == nil || e.Times.Block != 0.25 || l.left != 0 || l.seconds != 5 {
		t.Errorf("a visit is %+v, %v; %d left, %v s", e, ok, l.left, l.seconds)
	}
	if _, ok := l.answer("visit #2"); ok {
		t.Error("what was begun only is answered")
	}
	if e := l.began["visit #2"]; e.File != "002.bench" {
		t.Errorf("what was begun is %+v", e)
	}
	if err := l.add(bisectEntry{Do: doDone, Key: "visit #2", File: "002.bench", Seconds: 4}); err != nil {
		t.Fatal(err)
	}
	if e, ok := l.answer("visit #2"); !ok || e.File != "002.bench" || l.seconds != 9 {
		t.Errorf("what was added is %+v, %v; %v s, want 9", e, ok, l.seconds)
	}
}

// TestMeasurementKeys proves that a measurement which is asked for once more is another one.
func TestMeasurementKeys(t *testing.T) {
	l := newBisectLog(nil, "")
	if a, b, c := l.measurement("x"), l.measurement("x"), l.measurement("y"); a == b || a == c || b == c {
		t.Errorf("keys are %q, %q and %q", a, b, c)
	}
}

// TestTornLog proves that a line which a kill has torn is cut off, so that what follows is a
// line of its own.
func TestTornLog(t *testing.T) {
	folder := newLog(t)
	path := filepath.Join(folder, bisectLogName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := data[:len(data)-9]
	if err := os.WriteFile(path, torn, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := openBisectLog(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := l.began["visit #2"]; ok {
		t.Error("a line without its end is believed")
	}
	if err := l.add(bisectEntry{Do: doBuilt, Key: "ddd"}); err != nil {
		t.Fatal(err)
	}
	l.close()
	if l, err = openBisectLog(folder); err != nil {
		t.Fatalf("after it went on: %v", err)
	}
	defer l.close()
	if _, ok := l.answer("ddd"); !ok || l.left != 2 {
		t.Errorf("what was added is answered: %v; %d answers left", ok, l.left)
	}
}

// TestWrongLogs proves that a log that is none, or was damaged, is told as that, with the line
// and what to do, and is left as it is.
func TestWrongLogs(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(newLog(t), bisectLogName))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, c := range map[string]struct{ text, want string }{
		"a damaged line":       {lines[0] + "{\"do\":\"bu\n" + lines[2], "line 2 is damaged: "},
		"no beginning":         {lines[1] + lines[2], "it does not say what was asked for"},
		"nothing":              {"", "it does not say what was asked for"},
		"half of its first":    {lines[0][:20], "it does not say what was asked for"},
		"what no bisect wrote": {"one\ntwo\n", "it does not say what was asked for"},
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, bisectLogName)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := openBisectLog(folder)
		if err == nil {
			l.close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "start a new search") {
			t.Errorf("%s: %v, want %q and what to do", name, err, c.want)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != c.text {
			t.Errorf("%s: the file was changed to %q, %v", name, after, err)
		}
	}
	if _, err := openBisectLog(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is no bisection to go on with") {
		t.Errorf("a folder without a log: %v", err)
	}
}

// TestLogIsTaken proves that two searches do not write into one log.
func TestLogIsTaken(t *testing.T) {
	folder := newLog(t)
	l, err := openBisectLog(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if second, err := openBisectLog(folder); err == nil {
		second.close()
		t.Error("it is opened while another search has it")
	}
	if _, err := createBisectLog(folder, bisectStart{}); err == nil {
		t.Error("a new search takes the folder of another one")
	}
}
