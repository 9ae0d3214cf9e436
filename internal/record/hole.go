package record

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Hole is a measurement that was due and is not there. Results files say so
// in a comment line, which other readers of the format ignore.
type Hole struct {
	Pkg    string // import path, as far as it is known
	Case   string // full benchmark name, with "Benchmark"; "" means all of Pkg
	Block  string // block in which it is missing; "" means all
	Side   string // of the version that lacks it, as in Case; "" if there is one
	Reason string

	// Skipped means that the benchmark skipped itself: nothing was due.
	Skipped bool
}

// String says what is missing and why, as a footnote does.
func (h Hole) String() string {
	what := "hole"
	if h.Skipped {
		what = "skipped"
	}
	if h.Block != "" {
		what += " in block " + h.Block
	}
	return what + ": " + h.Reason
}

// Name says what the hole is of: a benchmark, or a whole package.
func (h Hole) Name() string {
	if h.Case == "" {
		return h.Pkg
	}
	return h.Case
}

// Gone reports whether the hole is of a benchmark that only the other of two versions
// has.
func (h Hole) Gone() bool {
	return h.Skipped && (h.Side == SideNew && h.Reason == OnlyIn(SideOld) || h.Side == SideOld && h.Reason == OnlyIn(SideNew))
}

// Line is the line of a results file that says so, without the newline;
// parseHoleLine reads it.
func (h Hole) Line() string {
	line := HoleMark
	if h.Skipped {
		line = SkipMark
	}
	if h.Case == "" {
		line += "pkg=" + h.Pkg
		if h.Side != "" {
			line += " " + SideKey + "=" + h.Side
		}
	} else {
		line += "case=" + h.Case
	}
	if h.Block != "" {
		line += " block=" + h.Block
	}
	return line + " reason=" + strconv.Quote(h.Reason)
}

// ParseHoleLine reads a line "# hole: case=… block=… reason=…", or the same
// with "skip", or with pkg=… side=… instead of the case. ok is false for any other
// line. Values with spaces are quoted as Go strings; unknown keys are ignored.
func ParseHoleLine(line string) (h Hole, ok bool, err error) {
	rest, isHole := strings.CutPrefix(line, HoleMark)
	if !isHole {
		if rest, ok = strings.CutPrefix(line, SkipMark); !ok {
			return h, false, nil
		}
		h.Skipped = true
	}
	fields, err := ParseFields(rest)
	if err != nil {
		return h, false, fmt.Errorf("malformed hole line: %w", err)
	}
	h.Pkg, h.Case, h.Block, h.Reason = fields["pkg"], fields["case"], fields["block"], fields["reason"]
	if h.Case == "" && h.Pkg != "" {
		h.Side = fields[SideKey]
		return h, true, nil
	}
	if h.Case == "" || strings.ContainsFunc(h.Case, unicode.IsSpace) {
		return h, false, fmt.Errorf("malformed hole line: case is %q, not a benchmark name", h.Case)
	}
	if !strings.HasPrefix(h.Case, "Benchmark") {
		h.Case = "Benchmark" + h.Case
	}
	return h, true, nil
}

// ParseFields reads "key=value key=value …". A value is a word or a quoted Go
// string. The last value of a key wins.
func ParseFields(s string) (map[string]string, error) {
	fields := make(map[string]string)
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return fields, nil
		}
		key, rest, ok := strings.Cut(s, "=")
		if !ok || key == "" || strings.ContainsAny(key, " \t\"") {
			return nil, fmt.Errorf("expected key=value at %q", s)
		}
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("the quoted value of %s does not end", key)
			}
			v, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("value of %s: %w", key, err)
			}
			fields[key], s = v, rest[len(quoted):]
			if s != "" && s[0] != ' ' && s[0] != '\t' {
				return nil, fmt.Errorf("no space after the value of %s", key)
			}
			continue
		}
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			end = len(rest)
		}
		fields[key], s = rest[:end], rest[end:]
	}
}
