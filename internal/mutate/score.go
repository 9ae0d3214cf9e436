package mutate

import (
	"embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

//go:embed equivalent/*.txt
var equivalentTexts embed.FS

// Equivalent returns by name of mutant why it does what the source does, as far as the
// contract says what that is: the files of the folder equivalent, one for a package, in which the
// lines of a reason are indented and stand below the mutants that it is about.
func Equivalent() (map[string]string, error) {
	files, err := equivalentTexts.ReadDir("equivalent")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := equivalentTexts.ReadFile("equivalent/" + file.Name())
		if err != nil {
			return nil, err
		}
		reasons, err := parseEquivalent(string(text))
		if err != nil {
			return nil, fmt.Errorf("mutate: equivalent/%s: %w", file.Name(), err)
		}
		pkg := strings.ReplaceAll(strings.TrimSuffix(file.Name(), ".txt"), "-", "/")
		for id, reason := range reasons {
			if of, _, _ := strings.Cut(id, " "); of != pkg {
				return nil, fmt.Errorf("mutate: equivalent/%s: a mutant of another package: %s", file.Name(), id)
			}
			all[id] = reason
		}
	}
	return all, nil
}

func parseEquivalent(text string) (map[string]string, error) {
	reasons := map[string]string{}
	var names []string
	reason := ""
	end := func() error {
		if (reason == "") != (len(names) == 0) {
			return fmt.Errorf("a reason without a mutant, or a mutant without a reason: %q %q", names, reason)
		}
		for _, n := range names {
			if _, twice := reasons[n]; twice {
				return fmt.Errorf("twice: %s", n)
			}
			reasons[n] = reason
		}
		names, reason = nil, ""
		return nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			reason = strings.TrimSpace(reason + " " + strings.TrimSpace(line))
		default:
			if reason != "" {
				if err := end(); err != nil {
					return nil, err
				}
			}
			names = append(names, line)
		}
	}
	return reasons, end()
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

func (s *Score) count(r Result, equivalent bool) {
	switch {
	case r.Verdict == Killed || r.Verdict == Memory:
		s.Killed++
	case r.Verdict == Timeout:
		s.Killed++
		s.Timeout++
	case r.Verdict == Survived && equivalent:
		s.Equivalent++
	case r.Verdict == Survived:
		s.Survived++
	}
}

// Evaluate counts results, of each package and in all, and lists the survivors that are not
// known to be equivalent.
func Evaluate(results map[string]Result, equivalent map[string]string) (all Score, byPackage map[string]*Score, open []string) {
	byPackage = map[string]*Score{}
	for _, id := range slices.Sorted(maps.Keys(results)) {
		r := results[id]
		_, known := equivalent[id]
		pkg, _, _ := strings.Cut(id, " ")
		if r.Verdict == Invalid {
			continue
		}
		if byPackage[pkg] == nil {
			byPackage[pkg] = &Score{}
		}
		byPackage[pkg].count(r, known)
		all.count(r, known)
		if r.Verdict == Survived && !known {
			open = append(open, id)
		}
	}
	return all, byPackage, open
}

// WriteScore prints the score of each package and of all, and the survivors that are to be
// judged.
func WriteScore(w io.Writer, results map[string]Result, equivalent map[string]string) {
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
		fmt.Fprintln(w, "survived:", id)
	}
}
