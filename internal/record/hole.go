package record

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/dynolab/dyno/internal/failure"
)

// A Hole is a measurement that was due and is not there.
type Hole struct {
	Pkg    string // import path, as far as it is known
	Case   string // full benchmark name, with "Benchmark"; "" means all of Pkg
	Block  string // block in which it is missing; "" means all
	Side   string // of the version that lacks it, as in Case; "" if there is one
	Kind   failure.Kind
	Reason string // for people

	// Skipped means that the benchmark skipped itself: nothing was due.
	Skipped bool
}

// String says what is missing and why, as a footnote does.
func (h Hole) String() string {
	what := "missing"
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
func (h Hole) Gone() bool { return h.Kind == failure.Gone }

// Detail returns the reason without what Kind and the level of the hole say.
func (h Hole) Detail() string {
	reason := strings.TrimPrefix(h.Reason, ListingFailed)
	if word := words[h.Kind]; word != "" {
		reason = strings.TrimPrefix(reason, word)
	}
	return reason
}

// words begin the reasons of some kinds.
var words = map[failure.Kind]string{failure.Crash: "crashed: ", failure.Fail: "failed: ", failure.Skip: "skipped: "}

// oldKind is the kind of a hole of a file from before kinds were written: its reason says it.
func oldKind(h Hole) failure.Kind {
	switch {
	case !h.Skipped:
	case h.Reason == OnlyIn(SideOld), h.Reason == OnlyIn(SideNew):
		return failure.Gone
	case h.Reason == sameCode:
		return failure.Unchanged
	default:
		return failure.Skip
	}
	reason := strings.TrimPrefix(h.Reason, ListingFailed)
	for kind, word := range words {
		if strings.HasPrefix(reason, word) {
			return kind
		}
	}
	switch {
	case reason == NoOperations:
		return failure.Crash
	case strings.Contains(reason, ": hangs, or needs a longer --timeout"):
		return failure.Hang
	}
	return ""
}

// sameCode is why a benchmark is not measured that can reach nothing that differs in two versions.
const sameCode = "nothing that it can reach differs"

// Unchanged returns the hole of a case of such a benchmark.
func Unchanged(c Case) Hole {
	return Hole{Pkg: c.Pkg, Case: c.Name, Side: c.Side, Kind: failure.Unchanged, Reason: sameCode, Skipped: true}
}

// UnchangedKey names the benchmark, behind its package, that is measured as the control of those.
const UnchangedKey = "unchanged-control"

// Line is the line of a results file that says so, without the newline.
func (h Hole) Line() string {
	mark, pkg, side := HoleMark, h.Pkg, h.Side
	if h.Skipped {
		mark = SkipMark
	}
	if h.Case != "" { // which stands below its package
		pkg, side = "", ""
	}
	return mark + formatFields("pkg", pkg, SideKey, side, "case", h.Case, "block", h.Block, "reason", strconv.Quote(h.Reason), "kind", quoteSome(string(h.Kind)))
}

// parseHole reads what stands behind HoleMark, or SkipMark.
func parseHole(text string, skipped bool) (h Hole, err error) {
	fields, err := ParseFields(text)
	if err != nil {
		return h, fmt.Errorf("malformed hole line: %w", err)
	}
	h = Hole{Pkg: fields["pkg"], Case: fields["case"], Block: fields["block"], Kind: failure.Kind(fields["kind"]), Reason: fields["reason"], Skipped: skipped}
	if h.Kind == "" {
		h.Kind = oldKind(h)
	}
	if h.Case == "" && h.Pkg != "" {
		h.Side = fields[SideKey]
		return h, nil
	}
	if h.Case == "" || strings.ContainsFunc(h.Case, unicode.IsSpace) {
		return h, fmt.Errorf("malformed hole line: case is %q, not a benchmark name", h.Case)
	}
	if !strings.HasPrefix(h.Case, ResultMark) {
		h.Case = ResultMark + h.Case
	}
	return h, nil
}
