package hw

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with what a terminal would obey, or not show, written as in a
// Go string: what comes from a board is bytes of anybody's, and an escape sequence
// among them could rename a window, or hide a line. Line feeds and tabs stay.
func Printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case !obeyed(r):
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)):
			fmt.Fprintf(&b, `\x%x`, s[i]) // at least 80
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// obeyed reports whether a character is none that is just shown. Of bytes that are no
// UTF-8 it is true, too.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || r == utf8.RuneError)
}
