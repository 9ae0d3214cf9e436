package fleet_test

import (
	"strings"
	"testing"

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
	s.Machines[4].Live = nil // two is away
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
		{"one-m3", "", "error: one-m3 is a board: benchrun board run m3 --on one-m3"},
		{"one-rv", "m3", "error: one-rv is the board rv, and not m3"},
		{"arm", "m3", "error: arm has no board m3: benchrun fleet join --board m3, there"},
		{"five", "", `error: no machine that is there is "five"; the machines are arm, one, two (away)`},
		{"five", "m3", `error: no machine that is there is "five with a m3"; the machines are one-m3, two-m3`},
		{"any", "pico", `error: no machine that is there is "any with a pico"; none has joined`},
		{"one,", "", "error: a term is empty"},
		{"cores=many", "", "error: cores=many is not a number"},
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
