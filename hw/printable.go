package hw

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with what a terminal would obey, or not show, written as in a
// Go string: what comes from a board is bytes of anybody's, and an escape sequence
// among them could rename a window, or hide a line. Line feeds and tabs stay.
func Printable(s string) string {
	if !strings.ContainsFunc(s, obeyed) {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\x`...)
			b = append(b, strconv.FormatUint(uint64(s[0]), 16)...) // at least 80
		case obeyed(r):
			q := strconv.QuoteRune(r)
			b = append(b, q[1:len(q)-1]...)
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(b)
}

// obeyed reports whether a character is none that is just shown. Of bytes that are no
// UTF-8 it is true, too.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || r == utf8.RuneError)
}
