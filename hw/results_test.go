package hw

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnits: what a board says of a unit stands once in the file, before the first line
// that has it; what it says first stays, and of what it says nothing there is nothing but
// that it is exact.
func TestUnits(t *testing.T) {
	const first, second = "BenchmarkA 1 2 insns/op 3 backlog 4 x", "BenchmarkB 1 2 insns/op 3 backlog 4 p50-insns"
	for exact, want := range map[bool]string{
		true: "Unit insns/op better=lower assume=exact\nUnit backlog better=lower assume=exact\nUnit x assume=exact\n" + first +
			"\nUnit p50-insns better=lower assume=exact\n" + second + "\n",
		false: "Unit insns/op better=lower\nUnit backlog better=lower\n" + first + "\nUnit p50-insns better=lower\n" + second + "\n",
	} {
		path := filepath.Join(t.TempDir(), "x.bench")
		r, err := CreateResults(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			r.Line(first, []string{"insns/op better=lower", "backlog better=lower", "backlog-end better=lower"}, exact),
			r.Line(second, []string{"insns/op better=lower", "backlog better=higher", "p50-insns better=lower"}, exact),
			r.Close(),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		data, err := os.ReadFile(path)
		if got := strings.TrimPrefix(string(data), writtenBy+"\n"); err != nil || got != want {
			t.Errorf("exact=%t: %v\n%s\nwant\n%s", exact, err, got, want)
		}
	}
}
