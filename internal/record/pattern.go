package record

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// CheckPattern returns an error if bench is no -test.bench pattern.
func CheckPattern(bench string) error {
	for _, alternative := range splitPattern(bench) {
		for _, elem := range alternative {
			if _, err := regexp.Compile(elem); err != nil {
				return fmt.Errorf("--bench %q: %w", bench, err)
			}
		}
	}
	return nil
}

// Matches reports whether bench, a -test.bench pattern that CheckPattern accepts, chooses
// the benchmark of that name, which has no sub-benchmarks: the parts of the pattern between
// slashes match the parts of the name, of which there may be more.
func Matches(bench, name string) bool {
	parts := strings.Split(name, "/")
	return slices.ContainsFunc(splitPattern(bench), func(elems []string) bool {
		for i, elem := range elems {
			re, err := regexp.Compile(elem)
			if err != nil || i == len(parts) || !re.MatchString(parts[i]) {
				return false
			}
		}
		return true
	})
}

// MatchesTop reports whether bench chooses the benchmark of that name, or may choose one
// beneath it.
func MatchesTop(bench, name string) bool {
	return slices.ContainsFunc(splitPattern(bench), func(elems []string) bool {
		re, err := regexp.Compile(elems[0])
		return err == nil && re.MatchString(name)
	})
}

// splitPattern splits a -test.bench pattern into the regular expressions that it
// consists of, as package testing does: at bars into alternatives, and these at
// slashes, but not within brackets.
func splitPattern(s string) [][]string {
	alternatives := [][]string{nil}
	add := func(elem string) {
		last := &alternatives[len(alternatives)-1]
		*last = append(*last, elem)
	}
	start, square, round := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			square++
		case ']':
			square = max(0, square-1)
		case '(':
			if square == 0 {
				round++
			}
		case ')':
			if square == 0 {
				round--
			}
		case '/', '|':
			if square == 0 && round == 0 {
				add(s[start:i])
				if s[i] == '|' {
					alternatives = append(alternatives, nil)
				}
				start = i + 1
			}
		}
	}
	add(s[start:])
	return alternatives
}
