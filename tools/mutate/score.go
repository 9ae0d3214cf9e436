package mutate

import (
	"embed"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed equivalent/*.txt
var equivalentTexts embed.FS

// An Equivalence says that so many changes of an operator to a function do what the source does.
type Equivalence struct {
	Count  int
	Reason string // as far as the contract says what the source does
}

// Equivalent returns what is known of equivalent changes, by [Mutant.Key]: the files of the folder
// equivalent, one for a package, in which the lines of a reason are indented and stand below the
// keys that it is about. What the changed line says is no part of the key, so that an
// equivalence outlives a rewording; a change that becomes equivalent while another of the same
// key ceases to be is not noticed.
func Equivalent() (map[string]Equivalence, error) {
	files, err := equivalentTexts.ReadDir("equivalent")
	if err != nil {
		return nil, err
	}
	all := map[string]Equivalence{}
	for _, file := range files {
		text, err := equivalentTexts.ReadFile("equivalent/" + file.Name())
		if err != nil {
			return nil, err
		}
		known, err := parseEquivalent(string(text))
		if err != nil {
			return nil, fmt.Errorf("mutate: equivalent/%s: %w", file.Name(), err)
		}
		pkg := strings.ReplaceAll(strings.TrimSuffix(file.Name(), ".txt"), "-", "/")
		for key, e := range known {
			if of, _, _ := strings.Cut(key, " "); of != pkg {
				return nil, fmt.Errorf("mutate: equivalent/%s: a change of another package: %s", file.Name(), key)
			}
			all[key] = e
		}
	}
	return all, nil
}

// equivalentLine is a key and how many changes of it are equivalent.
var equivalentLine = regexp.MustCompile(`^(\S+ .+: [a-z-]+) ×([1-9][0-9]*)$`)

func parseEquivalent(text string) (map[string]Equivalence, error) {
	known := map[string]Equivalence{}
	var keys []string // of the reason that is being read
	reason := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		m := equivalentLine.FindStringSubmatch(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t") && len(keys) > 0:
			reason = true
			for _, k := range keys {
				e := known[k]
				e.Reason = strings.TrimSpace(e.Reason + " " + strings.TrimSpace(line))
				known[k] = e
			}
		case m == nil:
			return nil, fmt.Errorf("want a key and a count, or a reason below one: %q", line)
		case known[m[1]].Count > 0:
			return nil, fmt.Errorf("twice: %s", m[1])
		default:
			if reason {
				keys, reason = nil, false
			}
			n, err := strconv.Atoi(m[2])
			if err != nil {
				return nil, err
			}
			keys, known[m[1]] = append(keys, m[1]), Equivalence{Count: n}
		}
	}
	for key, e := range known {
		if e.Reason == "" {
			return nil, fmt.Errorf("without a reason: %s", key)
		}
	}
	return known, nil
}

// A Score is a count of mutants.
type Score struct {
	Killed     int // by a failure, by a time limit or by a limit of memory
	Timeout    int // of those, by a time limit
	Survived   int // and not known to be equivalent
	Equivalent int
}

// Judged returns how many mutants the score is of.
func (s Score) Judged() int { return s.Killed + s.Survived }

// Percent returns the score, and its 95 % interval after Wilson ("Probable inference, the
// law of succession, and statistical inference", 1927), in percent: the sample is of a great
// many mutants, and the interval is for all of them. Without mutants it is 0 to 100.
func (s Score) Percent() (score, low, high float64) {
	const z = 1.959964 // of the normal distribution: 2.5 % lie above
	n := float64(s.Judged())
	if n == 0 {
		return 0, 0, 100
	}
	p := float64(s.Killed) / n
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	whole := 1 + z*z/n
	return 100 * p, 100 * (middle - half) / whole, 100 * (middle + half) / whole
}

// Evaluate counts results, of each package and in all, and lists the survivors that are to be
// judged. Where more changes of a key survived than are known to be equivalent, which of them are
// is not known, and all are listed.
func Evaluate(results map[string]Result, equivalent map[string]Equivalence) (all Score, byPackage map[string]*Score, open []string) {
	byPackage = map[string]*Score{}
	survived := map[string][]string{} // by key
	for _, id := range slices.Sorted(maps.Keys(results)) {
		r := results[id]
		if r.Verdict == Invalid {
			continue
		}
		pkg, _, _ := strings.Cut(id, " ")
		if byPackage[pkg] == nil {
			byPackage[pkg] = &Score{}
		}
		for _, s := range []*Score{&all, byPackage[pkg]} {
			switch r.Verdict {
			case Killed, Memory:
				s.Killed++
			case Timeout:
				s.Killed++
				s.Timeout++
			case Survived:
				if len(survived[keyOf(id)]) < equivalent[keyOf(id)].Count {
					s.Equivalent++
				} else {
					s.Survived++
				}
			}
		}
		if r.Verdict == Survived {
			survived[keyOf(id)] = append(survived[keyOf(id)], id)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(survived)) {
		if ids := survived[key]; len(ids) > equivalent[key].Count {
			open = append(open, ids...)
		}
	}
	return all, byPackage, open
}

// WriteScore prints the score of each package and of all, and the survivors that are to be
// judged.
func WriteScore(w io.Writer, results map[string]Result, equivalent map[string]Equivalence) {
	all, byPackage, open := Evaluate(results, equivalent)
	line := func(name string, s Score) {
		score, low, high := s.Percent()
		fmt.Fprintf(w, "%-20s %5d killed (%d by time) %5d survived %5d equivalent   %5.1f %% (%.1f to %.1f %%)\n",
			name, s.Killed, s.Timeout, s.Survived, s.Equivalent, score, low, high)
	}
	for _, name := range slices.Sorted(maps.Keys(byPackage)) {
		line(name, *byPackage[name])
	}
	line("all", all)
	for _, id := range open {
		known := ""
		if e := equivalent[keyOf(id)]; e.Count > 0 {
			known = fmt.Sprintf(" (of its function and operator %d are equivalent: %s)", e.Count, e.Reason)
		}
		fmt.Fprintf(w, "survived: %s%s\n", id, known)
	}
}
