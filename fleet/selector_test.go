package fleet_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/runner"
)

// Who measures packages is not sent to boards, and images are not sent to machines; the name of
// a machine also names its boards.
func TestSelect(t *testing.T) {
	machine := func(name, platform, host string) fleet.MachineStatus {
		return fleet.MachineStatus{
			Machine: fleet.Machine{Machine: runner.Machine{Name: name, Platform: platform, Cores: 4}, Host: host, Labels: map[string]string{"room": host}},
			Live:    &fleet.Live{State: fleet.StateFree},
		}
	}
	s := &fleet.Status{Machines: []fleet.MachineStatus{
		machine("arm", "linux/arm64", ""),
		machine("one", "linux/amd64", ""), machine("one-m3", "board/m3", "one"), machine("one-rv", "board/rv", "one"),
		machine("two", "linux/amd64", ""), machine("two-m3", "board/m3", "two"),
	}}
	s.Machines[1].CPU = "AMD EPYC"
	s.Machines[4].Live = nil // two is away
	three := machine("three", "linux/amd64", "three")
	three.Drained = true
	s.Machines = append(s.Machines, three)
	for _, c := range []struct{ selector, board, want string }{
		{"all", "", "arm one"},
		{"one,two", "", "one two"},
		{"arch=amd64", "", "one"},
		{"o*", "", "one"},
		{"all", "m3", "one-m3 two-m3"},
		{"one", "m3", "one-m3"},
		{"two", "m3", "two-m3"},
		{"two-m3", "m3", "two-m3"},
		{"any", "rv", "one-rv"},
		{"room=two", "m3", "two-m3"},
		{"room=three", "", "error: no machine that is there"},
		{"one-m3", "", "error: one-m3 is a board: benchrun board run m3 --on one-m3"},
		{"one-rv", "m3", "error: one-rv is the board rv, and not m3"},
		{"arm", "m3", "error: arm has no board m3: benchrun fleet join --board m3, there"},
		{"five", "", `error: no machine that is there is "five"; the machines are arm, one, two (away), three (drained)`},
		{"five", "m3", `error: no machine that is there is "five with a m3"; the machines are one-m3, two-m3`},
		{"any", "pico", `error: no machine that is there is "any with a pico"; none has joined`},
		{"one,", "", "error: a term is empty"},
		{"cores=many", "", "error: cores=many is not a number"},
		{"one,one,o*", "", "one"},
		{"cores=4", "", "arm one"},
		{"cores=5", "", "error: no machine that is there"},
		{"os=board", "m3", "one-m3 two-m3"},
		{"cpu=epyc&os=linux", "", "one"},
		{"all&room=", "", "error: no machine that is there"},
		{"any&arch=arm64", "", "arm"},
		{"o[", "", "error: syntax error in pattern"},
		{"three", "", "three"}, // drained, but named
	} {
		found, err := s.Select(c.selector, c.board)
		var names []string
		for _, m := range found {
			names = append(names, m.Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + strings.TrimPrefix(err.Error(), "--on "+c.selector+": ")
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("--on %s for the board %q: %s, want %s", c.selector, c.board, got, c.want)
		}
	}
	if err := s.Has("two"); err != nil {
		t.Error(err)
	}
	if s.Has("t*") == nil {
		t.Error("a pattern is the name of a machine")
	}
}

// Any machine is one that needs no other build, then the one that is free first, then the first by
// name.
func TestAny(t *testing.T) {
	own := runtime.GOOS + "/" + runtime.GOARCH
	for _, c := range []struct {
		want string
		m    []string // name, platform, state, seconds left, seconds of each that is queued
	}{
		{"b", []string{"a other/arch free 0", "b " + own + " measuring 100"}},
		{"b", []string{"a " + own + " measuring 100", "b " + own + " free 100"}},
		{"b", []string{"a " + own + " measuring 100", "b " + own + " measuring 99"}},
		{"b", []string{"a " + own + " measuring 0", "b " + own + " free 0"}},
		{"b", []string{"a " + own + " free 0 0", "b " + own + " free 0"}},
		{"b", []string{"a " + own + " free 0 20 20", "b " + own + " measuring 30 9"}},
		{"a", []string{"b " + own + " measuring 0", "a " + own + " measuring 1"}},
	} {
		s := new(fleet.Status)
		for _, text := range c.m {
			f := strings.Fields(text)
			left, _ := strconv.ParseFloat(f[3], 64)
			m := fleet.MachineStatus{Machine: fleet.Machine{Machine: runner.Machine{Name: f[0], Platform: f[1]}}, Live: &fleet.Live{State: f[2], Left: left}}
			for _, q := range f[4:] {
				d, _ := time.ParseDuration(q + "s")
				m.Queue = append(m.Queue, fleet.Order{Expected: d})
			}
			s.Machines = append(s.Machines, m)
		}
		if found, err := s.Select("any", ""); err != nil || len(found) != 1 || found[0].Name != c.want {
			t.Errorf("any of %q: %v, %v, want %s", c.m, found, err, c.want)
		}
	}
}
