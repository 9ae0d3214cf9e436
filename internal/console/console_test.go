package console

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestStatus(t *testing.T) {
	var b strings.Builder
	c := New(&b, 10)
	fmt.Fprintln(c, "first")
	c.Status("1/2 Ä long one")
	c.Status("2/2")
	fmt.Fprintln(c, "second")
	fmt.Fprintln(c, "third")
	c.Clear() // of which there is nothing left
	c.Status("3/2")
	c.Clear()
	const again = "\r\x1b[K"
	want := "first\n" + again + "1/2 Ä lon" + again + "2/2" + again + "second\nthird\n" + again + "3/2" + again
	if got := b.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if !c.Terminal() {
		t.Error("a console with a width is no terminal")
	}
}

func TestNoTerminal(t *testing.T) {
	var b strings.Builder
	c := New(&b, Width(&b))
	c.Status("1/2")
	fmt.Fprintln(c, "first")
	c.Clear()
	if got := b.String(); got != "first\n" || c.Terminal() {
		t.Errorf("got %q, terminal %t", got, c.Terminal())
	}
}

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{
		"results/intel-2c/2026-1.bench": "results/intel-2c/2026-1.bench",
		"my results/a.bench":            "'my results/a.bench'",
		"it's":                          `'it'\''s'`,
		"$HOME":                         "'$HOME'",
		"":                              "''",
	} {
		if got := ShellWord(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestRough(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Millisecond:   "1.2s",
		12345 * time.Millisecond:  "12s",
		123456 * time.Millisecond: "2m0s",
	} {
		if got := Rough(d).String(); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 process":    Count(1, "process"),
		"2 processes":  Count(2, "process"),
		"0 benchmarks": Count(0, "benchmark"),
		"1 block":      Count(1, "block"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestIndent(t *testing.T) {
	if got := Indent("a\nb"); got != "    a\n    b" {
		t.Errorf("got %q", got)
	}
}
