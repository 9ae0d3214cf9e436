package record

import (
	"fmt"
	"hash/crc64"
	"strings"
)

// sumMark begins the line that ends a part of the file, and has a sum of it.
const sumMark = "# sum: "

// sums are those of the parts of a results file: of what was written at once, such as all that a
// row gave in a block. Each is of the lines of its part and of the sum before, so a part that is
// lost, doubled or moved shows as well as a digit that has changed. They are of the lines as they
// are read: how lines end is no part of them, nor are empty ones.
type sums struct {
	n    int    // parts that have ended
	part uint64 // the sum of the part so far
	line []byte // the latest line
}

var crc = crc64.MakeTable(crc64.ECMA)

// add adds a line, without its end, to the part.
func (s *sums) add(line string) {
	s.line = append(append(s.line[:0], line...), '\n')
	s.part = crc64.Update(s.part, crc, s.line)
}

// end ends the part, and returns its line. The next part begins with that.
func (s *sums) end() string {
	s.n++
	line := fmt.Sprintf("%sn=%d crc=%016x", sumMark, s.n, s.part)
	s.part = 0
	s.add(line)
	return line
}

// of returns the line that ends part, the text of lines.
func (s *sums) of(part string) string {
	for l := range Lines(part) {
		s.add(l.Text)
	}
	return s.end()
}

// check ends the part by the line that the file has for that, and reports whether the part, and
// its place in the file, are what that line says. The next part begins with that line, whatever
// it says.
func (s *sums) check(line string) bool {
	if s.end() == line {
		return true
	}
	var n int
	if _, err := fmt.Sscanf(strings.TrimPrefix(line, sumMark), "n=%d ", &n); err == nil {
		s.n = n
	}
	s.part = 0
	s.add(line)
	return false
}
