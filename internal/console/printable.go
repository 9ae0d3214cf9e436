package console

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with what a terminal would obey, or not show, written as in a
// Go string: control characters, what turns the direction of text, bytes that are no UTF-8. Names,
// and what others print, are bytes of any sender's: an escape sequence among them could rename a
// window, or hide a line. Line feeds and tabs stay.
func Printable(s string) string {
	if isPrintable(s) {
		return s
	}
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

// isPrintable reports whether nothing in s is obeyed. Most of most texts is ASCII.
func isPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= ' ' && c <= '~' || c == '\n' || c == '\t':
		case c < utf8.RuneSelf:
			return false
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if obeyed(r) {
				return false
			}
			i += size - 1
		}
	}
	return true
}

// obeyed reports whether a character is none that is just shown. Of bytes that are no
// UTF-8 it is true, too.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || r == utf8.RuneError)
}

// A Screen is a writer of text for people, which is made printable as it is written. Any
// goroutine may use it.
type Screen struct {
	mu   sync.Mutex
	w    io.Writer
	rest []byte // the begin of a character whose end has not come
}

// NewScreen returns a screen on w.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Raw returns what a screen is on, for those who write escape sequences of their own, or data; of
// any other writer, itself.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*Screen); ok {
		return s.w
	}
	return w
}

// Write writes text. It keeps back an incomplete character at the end until the rest of it comes.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.rest, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if last := text[len(text)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole -= back
			}
			break
		}
	}
	_, err := io.WriteString(s.w, Printable(string(text[:whole])))
	s.rest = append([]byte(nil), text[whole:]...)
	return len(p), err
}
