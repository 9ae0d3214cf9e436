// Package child has what those need who start a process, such as a test binary or
// an emulator, and may have to end it: its process group, its output, and why it
// ended.
package child

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/failure"
)

// WhyFailed says why a test binary ended as it did: as a kind and in one line, with the
// place as far as it is known: "crashed: panic: oh (tiny.go:12)", "failed: tiny_test.go:7: boom".
// The end of the process is the runtime's or the operating system's word, which
// counts for more than a benchmark that failed before it.
func WhyFailed(output string, state *os.ProcessState) (kind failure.Kind, why string) {
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return failure.Crash, "crashed: " + shortened(line) + At(whereCrashed(lines[i+1:]))
		}
	}
	if !slices.Contains(lines, Failed) {
		return failure.Exit, "ended with " + state.String()
	}
	for i, line := range lines {
		if !strings.Contains(line, "--- FAIL: ") {
			continue
		}
		// testing prints the reason in indented lines, after the failure line
		// or, with -v, before it.
		if entry := LatestEntry(strings.Join(lines[i+1:], "\n")); entry != "" {
			return failure.Fail, "failed: " + shortened(entry)
		}
		if i > 0 && strings.HasPrefix(lines[i-1], indent) {
			return failure.Fail, "failed: " + shortened(lines[i-1])
		}
		return failure.Fail, "failed: " + shortened(line)
	}
	return failure.Exit, "ended with " + state.String()
}

// At appends a place to a message; it returns "" for none.
func At(place string) string {
	if place == "" {
		return ""
	}
	return " (" + place + ")"
}

// indent begins the lines of a test's log; those that go on with an entry have it
// twice.
const indent = "    "

// LatestEntry returns the latest entry of the log of a test with which text begins,
// in one line; "" if it begins with none. What was logged last is why the test ended.
func LatestEntry(text string) (entry string) {
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), indent)
		if !ok {
			break
		}
		if strings.HasPrefix(line, indent) && entry != "" {
			entry += " " + strings.TrimSpace(line)
		} else {
			entry = line
		}
	}
	return entry
}

// shortened returns what a program has to say of itself in a line of bounded length:
// a longer one could not be read back from results.
func shortened(s string) string {
	const most = 500
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Failed is the line with which package testing ends if it has reached
// its end and something failed.
const Failed = "FAIL"

// Excerpt returns s, or if that is long, its first and last lines: a crash says
// first why and last where.
func Excerpt(s string) string {
	const first, last = 20, 40
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if left := len(lines) - first - last; left > 1 {
		lines = slices.Concat(lines[:first], []string{fmt.Sprintf("(%d lines left out)", left)}, lines[len(lines)-last:])
	}
	return strings.Join(lines, "\n")
}

// maxOutput bounds what is kept of each stream of a process, which may never end.
const maxOutput = 16 << 20

// A Buffer keeps the first 16 MiB written to it, and swallows the rest. It may be
// read while it is written.
type Buffer struct {
	mu  sync.Mutex // os/exec writes from a goroutine that a timeout may leave behind
	buf bytes.Buffer
	at  time.Time // of the latest write that was kept
}

// Write implements [io.Writer]; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := maxOutput - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
		b.at = time.Now()
	}
	return len(p), nil
}

// String returns what is kept.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Written returns when something was last kept: who prints without end does not
// count as alive for ever.
func (b *Buffer) Written() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}
