package report

import (
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// What differs in how two versions were built is said in one sentence, and nothing is where only
// the code does.
func TestBuilds(t *testing.T) {
	const a, b = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	for _, c := range []struct{ config, want string }{
		{"old: v1\nnew: v2\nold-commit: " + a + "\nnew-commit: " + b + "\ntoolchain: go version go1.26.8 linux/amd64", ""},
		{
			"old: v1\nnew: v1\nold-commit: " + a + "\nnew-commit: " + a + "\nold-toolchain: go version go1.26.8 linux/amd64\nnew-toolchain: go version go1.27.4 X:jsonv2 linux/amd64\nold-go: go1.26.8\nnew-go: go1.27.4",
			"old and new differ in the toolchain (go1.26.8 → go1.27.4 X:jsonv2)",
		},
		{
			"old: v1\nnew: work tree\nold-commit: " + a + "\nold-dirty: false\nnew-commit: " + a + "\nnew-dirty: true 12\nnew-gogc: 50\nold-tags: a,b\nnew-tags: c",
			"old and new differ in -tags (a,b → c), GOGC (default → 50) and the code (aaaaaaaa → aaaaaaaa and what was not committed)",
		},
		{"old: x\nnew: y\nold-go: local\nold-pgo: p\nnew-pgo: off", "old and new differ in --go (local → default), -pgo (p → off) and the code (x → y)"},
	} {
		var s record.Settings
		for line := range strings.Lines(c.config) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			s.Add(key, value)
		}
		if got := builds(compare.File{Config: s.List}); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.config, got, c.want)
		}
	}
}
