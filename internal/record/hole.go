package record

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Hole is a measurement that was due and is not there.
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

// Line is the line of a results file that says so, without the newline.
func (h Hole) Line() string {
	mark, pkg, side := HoleMark, h.Pkg, h.Side
	if h.Skipped {
		mark = SkipMark
	}
	if h.Case != "" { // which stands below its package
		pkg, side = "", ""
	}
	return mark + formatFields("pkg", pkg, SideKey, side, "case", h.Case, "block", h.Block, "reason", strconv.Quote(h.Reason))
}

// ParseHoleLine reads the line of a hole; ok is false for any other line.
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
