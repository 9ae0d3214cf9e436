package boardrun

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw"
)

// TestKeptFits: what fits is what the newest results say that have it.
func TestKeptFits(t *testing.T) {
	file := func(started, absent, cases string) string {
		return "# Written by benchrun run; never edited.\nboard: toy\nstarted: " + started + "\n" + absent + "block: 1\n" + cases
	}
	end := func(impl, name, outcome string) string {
		if outcome == "ok" {
			return "Benchmark" + name + "/impl=" + impl + " 1 5 insns/op\n"
		}
		return "# hole: case=Benchmark" + name + "/impl=" + impl + " block=1 reason=\"" + outcome + ": so\"\n"
	}
	const bigA, bigB = "# hole: pkg=github.com/dynolab/dyno/impls/a reason=\"too big: by 1 byte\"\n", "# skip: pkg=github.com/dynolab/dyno/impls/b reason=\"does not fit: by 2 bytes\"\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"results/toy/old.bench":       file("2026-01-01T00:00:00Z", bigA+bigB, end("c", "X", "ok")+end("e", "X", "ok")+end("d", "X", "ok")),
		"results/toy-left/new.bench":  file("2026-01-02T00:00:00Z", "", end("a", "X", "ok")+end("a", "Y", "out of memory")+end("c", "X", "out of memory")+end("c", "Y", "out of memory")+end("c", "Z", "ok")+"# skip: case=BenchmarkW/impl=c reason=\"needs Heap\"\n"),
		"results/toy/cut.bench":       "# Written by benchrun run; never edited.\nboard: toy\n",
		"results/toy/notes.txt":       "fits",
		"results/machine/host.bench":  "# Written by benchrun run; never edited.\nmachine: toy\n",
		"results/other/another.bench": strings.Replace(file("2026-01-02T00:00:00Z", "", end("b", "X", "wrong result")), "board: toy", "board: other", 1),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := keptFits(hw.Checkout{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]fits{
		"toy":   {fit: []string{"a", "d", "e"}, unfit: map[string]string{"b": "by 2 bytes", "c": "2 of 3 cases run out of memory"}},
		"other": {fit: []string{"b"}, unfit: map[string]string{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}
