// Package console is where a command that takes long says what it does: lines that
// stay, and on a terminal a line below them that is written again and again
// ([Console]). It also has the few forms in which such lines put things: numbers with
// their nouns ([Count]), durations ([Rough]), what a program printed ([Indent]), words
// of a command to be typed ([ShellWord]), the name that was meant ([Nearest]).
package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/agnivade/levenshtein"
	"golang.org/x/term"
)

// A Console writes to standard error. Any goroutine may use it.
type Console struct {
	mu    sync.Mutex
	w     io.Writer
	width int  // of the terminal; 0 if it is none
	shown bool // there is a status line
}

// New returns the console that writes to w, whose terminal has so many columns; 0
// means that it is no terminal. See [Width].
func New(w io.Writer, width int) *Console { return &Console{w: Raw(w), width: width} }

// Width returns how many columns w has if it is a terminal that can write a line
// again, and 0 if not.
func Width(w io.Writer) int {
	f, ok := Raw(w).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// Terminal reports whether there is a status line.
func (c *Console) Terminal() bool { return c.width > 0 }

// Write writes lines that stay, in the place of the status line. They end with a
// newline.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	_, err := io.WriteString(c.w, Printable(string(p)))
	return len(p), err
}

// Status shows text as the status line, cut to the width of the terminal. Where there
// is none it does nothing.
func (c *Console) Status(text string) {
	if c.width == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	text = Printable(strings.ReplaceAll(text, "\n", " "))
	if r := []rune(text); len(r) >= c.width { // the cursor needs a place
		text = string(r[:c.width-1])
	}
	fmt.Fprint(c.w, clearLine, text)
	c.shown = true
}

// Clear takes the status line off the terminal.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

// clearLine brings the cursor to the begin of its line, and clears that.
const clearLine = "\r\x1b[K"

// clear is Clear by a caller who holds mu.
func (c *Console) clear() {
	if c.shown {
		fmt.Fprint(c.w, clearLine)
		c.shown = false
	}
}

// Count is a number with its noun, which is singular: "1 block", "2 processes".
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Rough rounds a duration for people: to ten seconds, to one, or to a tenth of one.
func Rough(d time.Duration) time.Duration {
	switch {
	case d > time.Minute:
		return d.Round(10 * time.Second)
	case d > 10*time.Second:
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}

// Indent is s with each of its lines indented by four spaces.
func Indent(s string) string {
	return "    " + strings.ReplaceAll(s, "\n", "\n    ")
}

// ShellWord quotes a word for a shell if it needs that.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+=:,@%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Nearest returns the name that is nearest to what was typed, whatever the case; "" if none
// is near enough to be meant.
func Nearest(typed string, names []string) (near string) {
	least := len(typed)/4 + 2 // from here on it is another name
	for _, name := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(typed)); d < least {
			near, least = name, d
		}
	}
	return near
}
