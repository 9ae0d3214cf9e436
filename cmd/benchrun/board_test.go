package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
)

func TestRoom(t *testing.T) {
	for _, c := range []struct {
		used, limit int64
		want        string
	}{
		{10, 0, "10 bytes, of which there is no limit"},
		{16, 64, "16 of 64 bytes, 48 left (75 %)"},
		{64, 64, "64 of 64 bytes, 0 left (0 %)"},
		{65, 64, "65 of 64 bytes, 1 too many"},
	} {
		if got := room(c.used, c.limit); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.used, c.limit, got, c.want)
		}
	}
	for n, want := range map[int64]string{0: "-", 65536: "64 KiB", 2 << 20: "2 MiB", 1000: "1000 B"} {
		if got := memory(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

// An error about a board is told with what was printed and a hint, and its status is
// its outcome's; any other error is passed on.
func TestTellBoard(t *testing.T) {
	var b bytes.Buffer
	long := strings.Repeat("stack\n", 100)
	err := exitTold(&b, fmt.Errorf("around it: %w", &hw.Error{Outcome: hw.TooBig, What: "it is large", Output: long, Do: "make it small"}))
	if exitStatus(err) != hw.TooBig.ExitCode() {
		t.Errorf("the status is %d", exitStatus(err))
	}
	want := "benchrun: too big: it is large\n" + strings.Repeat("    stack\n", 39) + "    … (61 more lines)\nhint: make it small\n"
	if b.String() != want {
		t.Errorf("told\n%s\nwant\n%s", b.String(), want)
	}
	other := errors.New("no space left")
	if err := exitTold(&b, other); err != other {
		t.Errorf("another error became %v", err)
	}
	if err := exitTold(&b, nil); err != nil {
		t.Error(err)
	}
}

// On a terminal it says what runs, in a line that is cleared before anything else is
// said; clauses that pass are counted.
func TestBoardProgress(t *testing.T) {
	d := hw.Device{Board: hw.Board{Name: "b", FlashNeeds: "press it"}, Entry: hw.Entry{ID: "left", Board: "b"}}
	im := &hw.Image{Board: d.Board, Impl: "serial", Parts: []string{"bench"}, Sizes: &hw.Sizes{}}
	for _, width := range []int{0, 30} {
		var b bytes.Buffer
		p := &boardProgress{w: &b, width: width}
		p.Build(d, "serial", []string{"bench", "conform/group"})
		p.Split(d, "serial", []string{"bench", "conform/group"}, errors.New("too big"))
		p.Build(d, "serial", []string{"bench"})
		p.Built(d, "serial", im, nil)
		p.Flash(d, im)
		p.Cases(d, im, line.Hello{Chip: "c", Clock: 1e6, Unit: "ns", RAMFree: 9}, 4)
		for i, r := range []hw.CaseResult{
			{Case: "conform/first"},
			{Case: "conform/second"},
			{Case: "bench/X/impl=serial", Answer: &hw.Answer{Results: []string{"BenchmarkX/impl=serial 1000 5 ns/op 0 B/op"}}},
			{Case: "conform/third", Skip: "needs more"},
			{Case: "conform/fourth"},
		} {
			p.Case(d, im, r.Case, 1+i/4)
			p.Done(r)
		}
		p.flush()
		running := func(s string) string {
			if width == 0 {
				return ""
			}
			return "\r\x1b[K" + s
		}
		want := "building b with serial, bench and conform/group\n  too big\n  so each part is an image of its own\n" +
			"building b with serial, bench\n  flash: 0 bytes, of which there is no limit\n  RAM:   0 bytes, of which there is no limit\n" +
			"flashing left with serial\n  (if it is not found: press it)\n" +
			"left with serial, bench, says hello: c, a clock of 1000000 ns a second, 9 bytes of heap free; 4 cases to run\n" +
			running("  conform/first with serial") + running("  conform/second with serial") +
			running("  bench/X/impl=serial") + running("") + "  2 clauses passed\n  bench/X/impl=serial: 5 ns/op, 0 B/op\n" +
			running("  conform/third with serial") + running("") + "  conform/third with serial: skipped: needs more\n" +
			running("  conform/fourth (time 2) wit") + running("") + "  1 clause passed\n"
		if b.String() != want {
			t.Errorf("width %d: said\n%q\nwant\n%q", width, b.String(), want)
		}
		if p.cases != 4 {
			t.Errorf("%d cases", p.cases)
		}
	}
}
