package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/jobs"
)

// Select returns the machines that a selector names: terms with commas between, each of which
// adds machines. A term is a name or a pattern of names such as epyc-*; all; any, which is one
// machine, the one that is free first; or conditions with & between, such as arch=arm64&os=linux
// or any&arch=arm64. Conditions ask for os, arch, cpu (a part of the model's name), cores (at
// least so many), or a label.
//
// Machines that are away or drained are left out, unless they are named.
//
// board is the kind of board that is wanted: then the name of a machine also names the board
// that is connected to it. Without one, machines that are boards are left out.
func (s *Status) Select(selector, board string) ([]MachineStatus, error) {
	var chosen []MachineStatus
	for term := range strings.SplitSeq(selector, ",") {
		found, err := s.term(strings.TrimSpace(term), board)
		if err != nil {
			return nil, fmt.Errorf("--on %s: %w", selector, err)
		}
		for _, m := range found {
			if !slices.ContainsFunc(chosen, func(o MachineStatus) bool { return o.Name == m.Name }) {
				chosen = append(chosen, m)
			}
		}
	}
	return chosen, nil
}

// Has returns an error if no machine has a name.
func (s *Status) Has(name string) error {
	if !slices.ContainsFunc(s.Machines, func(m MachineStatus) bool { return m.Name == name }) {
		return fmt.Errorf("there is no machine %q; %s", name, s.names(nil))
	}
	return nil
}

// term returns the machines of one term.
func (s *Status) term(term, board string) ([]MachineStatus, error) {
	if term == "" {
		return nil, errors.New("a term is empty")
	}
	suits := func(m MachineStatus) bool { return m.board() == board }
	// One that is named gets the job when it comes, if it is away.
	named := slices.DeleteFunc(slices.Clone(s.Machines), func(m MachineStatus) bool { return m.Name != term && (board == "" || m.Host != term) })
	if found := slices.DeleteFunc(slices.Clone(named), func(m MachineStatus) bool { return !suits(m) }); len(found) > 0 {
		return found, nil
	}
	if len(named) > 0 {
		return nil, named[0].unsuited(board)
	}
	one := false
	found := slices.DeleteFunc(slices.Clone(s.Machines), func(m MachineStatus) bool { return m.Live == nil || m.Drained || !suits(m) })
	for condition := range strings.SplitSeq(term, "&") {
		if condition == "any" {
			one = true
			continue
		}
		var err error
		found = slices.DeleteFunc(found, func(m MachineStatus) bool {
			holds, bad := m.meets(condition)
			err = cmp.Or(err, bad)
			return !holds
		})
		if err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no machine that is there is %q; %s", strings.TrimSuffix(term+" with a "+board, " with a "), s.names(suits))
	}
	if one {
		found = []MachineStatus{slices.MinFunc(found, sooner)}
	}
	return found, nil
}

// board is the kind of board that a machine is, "" if it is none.
func (m MachineStatus) board() string {
	kind, _ := strings.CutPrefix(m.Platform, jobs.BoardPlatform(""))
	if kind == m.Platform {
		return ""
	}
	return kind
}

// unsuited is the error of a machine that was named and is not of the kind that is wanted.
func (m MachineStatus) unsuited(board string) error {
	switch {
	case board == "":
		return fmt.Errorf("%s is a board: benchrun board run %s --on %[1]s", m.Name, m.board())
	case m.board() == "":
		return fmt.Errorf("%s has no board %s: benchrun fleet join --board %[2]s, there, has one take part", m.Name, board)
	}
	return fmt.Errorf("%s is the board %s, and not %s", m.Name, m.board(), board)
}

// meets reports whether a machine meets a condition.
func (m MachineStatus) meets(condition string) (bool, error) {
	key, want, ok := strings.Cut(condition, "=")
	if !ok {
		match, err := path.Match(condition, m.Name)
		return match || condition == "all", err
	}
	system, arch, _ := strings.Cut(m.Platform, "/")
	switch key {
	case "os":
		return system == want, nil
	case "arch":
		return arch == want, nil
	case "cpu":
		return strings.Contains(strings.ToLower(m.CPU), strings.ToLower(want)), nil
	case "cores":
		n, err := strconv.Atoi(want)
		if err != nil {
			return false, fmt.Errorf("cores=%s is not a number", want)
		}
		return m.Cores >= n, nil
	}
	return m.Labels[key] == want && want != "", nil
}

// sooner orders machines by when they can begin: first those of the asker's own platform, which
// need no other build, then the ones with less before it.
func sooner(a, b MachineStatus) int {
	load := func(m MachineStatus) float64 {
		left := 0.0
		if m.Live.State != StateFree {
			left = max(1, m.Live.Left)
		}
		for _, o := range m.Queue {
			left += max(1, o.Expected.Seconds())
		}
		return left
	}
	foreign := func(m MachineStatus) int {
		if m.Platform == runtime.GOOS+"/"+runtime.GOARCH {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(foreign(a), foreign(b)), cmp.Compare(load(a), load(b)), strings.Compare(a.Name, b.Name))
}

// names lists the machines that suit, all if that is nil, in a sentence.
func (s *Status) names(suits func(MachineStatus) bool) string {
	var all []string
	for _, m := range s.Machines {
		if suits != nil && !suits(m) {
			continue
		}
		name := m.Name
		switch {
		case m.Drained:
			name += " (drained)"
		case m.Live == nil:
			name += " (away)"
		}
		all = append(all, name)
	}
	switch {
	case len(s.Machines) == 0:
		return "no machine has joined: benchfleet join makes this one join"
	case len(all) == 0:
		return "none has joined: benchfleet join --board has a board take part"
	}
	return "the machines are " + strings.Join(all, ", ")
}
