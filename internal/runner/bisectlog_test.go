package runner

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/versions"
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

// TestBisectLimits proves that a search that goes on decides by the limit that it had for as long
// as the log answers, and then by its own one, which begins anew, or by none.
func TestBisectLimits(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "search")
	l, err := createBisectLog(folder, bisectStart{Within: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.add(bisectEntry{Do: doDone, Key: "a", Seconds: 9}); err != nil || l.time() != 1 {
		t.Fatalf("%v s are left of ten, want 1 (%v)", l.time(), err)
	}
	l.close()
	inf := math.Inf(1)
	for _, c := range []struct {
		within time.Duration
		took   float64   // of what it answers next
		times  []float64 // that are left, before each answer and after the last
	}{
		{20 * time.Second, 15, []float64{10, 20, 5}},
		{0, 100, []float64{10, 20, inf, inf}},
		{0, 1, []float64{10, 20, inf, inf, inf}},
		{time.Second, 1, []float64{10, 20, inf, inf, 1, 0}},
	} {
		l, err := openBisectLog(folder)
		if err == nil {
			err = l.goOn(c.within)
		}
		if err != nil {
			t.Fatal(err)
		}
		var times []float64
		for _, key := range strings.Split("abcde", "") {
			times = append(times, l.time())
			if _, ok := l.answer(key); ok {
				continue
			}
			if err := l.add(bisectEntry{Do: doDone, Key: key, Seconds: c.took}); err != nil {
				t.Fatal(err)
			}
			times = append(times, l.time())
			break
		}
		if !slices.Equal(times, c.times) {
			t.Errorf("with %v: %v s are left, want %v", c.within, times, c.times)
		}
		l.close()
	}
}

// TestTimeUp proves that a search whose time is used up says how to go on, and that one which is
// interrupted has the rest of its time in that.
func TestTimeUp(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a search")
	l, err := createBisectLog(folder, bisectStart{Within: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	var said strings.Builder
	b := &bisectRun{Runner: New(console.New(&said, 0), "benchrun bisect"), log: l, plan: &record.Plan{}, at: make([]versions.Commit, 2)}
	if err := l.add(bisectEntry{Do: doDone, Key: "a", Seconds: 3}); err != nil {
		t.Fatal(err)
	}
	b.interrupted()
	if want := "To go on:\n  benchrun bisect --resume '" + folder + "' --within 7s\n"; !strings.Contains(said.String(), want) {
		t.Errorf("no %q in %s", want, said.String())
	}
	for _, up := range []bool{false, true} {
		r := new(bisect.Result)
		b.complete(r, &bisect.Answer{TimeUp: up})
		if want := "benchrun bisect --resume '" + folder + "' goes on without a limit"; len(r.Notes) > 0 != up || up && !strings.Contains(r.Notes[0], want) {
			t.Errorf("time up %t: notes %q", up, r.Notes)
		}
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
