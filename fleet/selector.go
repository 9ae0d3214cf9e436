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
)

// Select returns the machines that a selector names: terms with commas between, each of which
// adds machines. A term is a name or a pattern of names such as epyc-*; all; any, which is one
// machine, the one that is free first; or conditions with & between, such as arch=arm64&os=linux
// or any&arch=arm64. Conditions ask for os, arch, cpu (a part of the model's name), cores (at
// least so many), or a label.
//
// Machines that are away or drained are left out, unless they are named.
func (s *Status) Select(selector string) ([]MachineStatus, error) {
	var chosen []MachineStatus
	for term := range strings.SplitSeq(selector, ",") {
		found, err := s.term(strings.TrimSpace(term))
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

// term returns the machines of one term.
func (s *Status) term(term string) ([]MachineStatus, error) {
	if term == "" {
		return nil, errors.New("a term is empty")
	}
	if i := slices.IndexFunc(s.Machines, func(m MachineStatus) bool { return m.Name == term }); i >= 0 {
		return s.Machines[i : i+1 : i+1], nil // also if it is away: it gets the job when it comes
	}
	one := false
	found := slices.DeleteFunc(slices.Clone(s.Machines), func(m MachineStatus) bool { return m.Live == nil || m.Drained })
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
		return nil, fmt.Errorf("no machine that is there is %q; %s", term, s.names())
	}
	if one {
		found = []MachineStatus{slices.MinFunc(found, sooner)}
	}
	return found, nil
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

// names lists the machines, in a sentence.
func (s *Status) names() string {
	var all []string
	for _, m := range s.Machines {
		name := m.Name
		switch {
		case m.Drained:
			name += " (drained)"
		case m.Live == nil:
			name += " (away)"
		}
		all = append(all, name)
	}
	if len(all) == 0 {
		return "no machine has joined: benchfleet join makes this one join"
	}
	return "the machines are " + strings.Join(all, ", ")
}
