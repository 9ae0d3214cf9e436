package record

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The marks of lines: what a line of each kind begins with. FORMAT.md says
// what follows.
const (
	ResultMark  = "Benchmark"
	unitMark    = "Unit"
	PlanMark    = "# plan: "
	caseMark    = "# case: "
	HoleMark    = "# hole: "
	SkipMark    = "# skip: "
	SlicesMark  = "# slices: "
	rowMark     = "# row "        // begins what a row gave that took turns
	rowEnd      = "# end of row " // ends it
	aloneMark   = "# process: "
	NoteMark    = "# note: "
	tookMark    = "# took: "
	decidedMark = "# decided: "
	lookMark    = "# look: "
	ClauseMark  = "# conform: "
	BlockEnd    = "# end of block " // the line after the last one of a complete block
	ResumedMark = "# resumed "
)

// commentMarks are those of comments.
var commentMarks = []string{
	SlicesMark, PlanMark, caseMark, HoleMark, SkipMark, rowMark, rowEnd, aloneMark, NoteMark, tookMark,
	decidedMark, lookMark, ClauseMark, BlockEnd, ResumedMark, sumMark,
}

// A Line is a line of a results file that is not empty.
type Line struct {
	Number int    // from 1
	Text   string // without its end
	Size   int    // bytes, with its end
	Torn   bool   // it has no end

	Mark string // what kind of line it is; "" for configuration and for unknown lines
	Rest string // what follows the mark

	Key, Value string // of a configuration line; Key is "" for any other
}

// Lines returns the lines of a results file in their order. What they hold is not looked
// at; that is for [Read], and for who goes on with a run.
func Lines(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		number := 0
		for raw := range strings.Lines(text) {
			number++
			l := Line{Number: number, Text: strings.TrimRight(raw, "\r\n"), Size: len(raw), Torn: !strings.HasSuffix(raw, "\n")}
			if strings.TrimSpace(l.Text) == "" {
				continue
			}
			if l.Mark = markOf(l.Text); l.Mark != "" {
				l.Rest = l.Text[len(l.Mark):]
			} else {
				l.Key, l.Value = keyValue(l.Text)
			}
			if !yield(l) {
				return
			}
		}
	}
}

// markOf returns the mark that line begins with, "" if it has none.
func markOf(line string) string {
	switch line[0] {
	case '#':
		for _, m := range commentMarks {
			if strings.HasPrefix(line, m) {
				return m
			}
		}
	case 'B':
		if strings.HasPrefix(line, ResultMark) {
			return ResultMark
		}
	case 'U':
		if rest, ok := strings.CutPrefix(line, unitMark); ok && (rest == "" || unicode.IsSpace(rune(rest[0]))) {
			return unitMark
		}
	}
	return ""
}

// keyValue splits a configuration line "key: value" as package benchfmt does; key is ""
// for any other line. A key begins with a lower-case letter and has neither spaces nor
// capitals. "key:" takes the key away: its value is "".
func keyValue(line string) (key, value string) {
	key, value, ok := strings.Cut(line, ":")
	first, _ := utf8.DecodeRuneInString(key)
	if !ok || !unicode.IsLower(first) || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsUpper(r) }) {
		return "", ""
	}
	trimmed := strings.TrimLeft(value, " \t")
	if trimmed == value && value != "" {
		return "", "" // nothing between the colon and the value
	}
	return key, trimmed
}
