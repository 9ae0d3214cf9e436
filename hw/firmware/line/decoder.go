package line

// Kind says what a Decoder has found.
type Kind uint8

const (
	// Text is a whole line of the firmware's.
	Text Kind = iota
	// Noise is a line that is not the firmware's.
	Noise
	// Corrupt is a line of the firmware's, or what is left of one, of which bytes
	// were lost or altered.
	Corrupt
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Noise:
		return "noise"
	case Corrupt:
		return "corrupt"
	}
	return "?"
}

// Event is a line as it came from a board.
type Event struct {
	Kind Kind

	// Seq is the line's number; 0 unless Kind is Text.
	Seq uint32

	// Lost is how many lines should have come between the line before and this
	// one. Corrupt lines are among them. It is 0 of the first line: what
	// came before it is not known.
	Lost uint32

	// Restart says that the numbers begin anew: the board has started again. It is
	// true of the first line, too, if its number is 1.
	Restart bool

	// Repeated says that this line was there before: its number is not larger than
	// the one before, and it does not begin anew. It is not to be counted twice.
	Repeated bool

	// Text is what the line says; of noise and corrupt lines, all of it.
	Text string

	// Err says what is wrong with a corrupt line: ErrFrame or ErrSum.
	Err error
}

// Decoder makes lines of the bytes that come from a board, however they are cut
// into pieces. The zero value is ready for use by one goroutine.
type Decoder struct {
	buf  []byte
	last uint32 // number of the last line; 0: none yet
}

// Feed takes the next bytes and calls emit for each line that they complete.
func (d *Decoder) Feed(p []byte, emit func(Event)) {
	for _, b := range p {
		if b == '\n' || len(d.buf) >= maxNoise {
			d.Flush(emit)
		}
		if b != '\n' {
			d.buf = append(d.buf, b)
		}
	}
}

// maxNoise is how long a line may be that has no end. None of the firmware's is so
// long.
const maxNoise = 4 * MaxLine

// Flush takes what has come of a line whose end has not: nothing more is going to
// come. It does nothing if that is nothing.
func (d *Decoder) Flush(emit func(Event)) {
	if n := len(d.buf); n > 0 && d.buf[n-1] == '\r' {
		d.buf = d.buf[:n-1]
	}
	raw := string(d.buf)
	d.buf = d.buf[:0]
	if raw != "" {
		d.line(raw, emit)
	}
}

// Pending returns what has come of a line whose end has not.
func (d *Decoder) Pending() string { return string(d.buf) }

// line takes a line. If a line feed was lost, or the board has started again in the
// middle of a line, then there are several in it, each of which begins with an @.
func (d *Decoder) line(raw string, emit func(Event)) {
	for raw != "" {
		at, end, seq, text := find(raw)
		if at > 0 {
			emit(rest(raw[:at]))
		}
		if at < end {
			emit(d.next(seq, text))
		}
		raw = raw[end:]
	}
}

// find returns where the first whole line in raw is, the longest that begins there.
// If there is none, at and end are the length of raw.
func find(raw string) (at, end int, seq uint32, text string) {
	for at = range len(raw) {
		if raw[at] != '@' {
			continue
		}
		if seq, text, n := longest(raw[at:]); n > 0 {
			return at, at + n, seq, text
		}
	}
	return len(raw), len(raw), 0, ""
}

// longest returns the longest whole line that raw, which begins with an @, begins with,
// and its length; 0 if there is none. A line ends where raw does, or where another one
// may begin. The sum is taken once for all of these: garbage has as many as it likes.
func longest(raw string) (seq uint32, text string, n int) {
	seq, want, from, ok := head(raw)
	if !ok {
		return 0, "", 0
	}
	sum := sumString(initial, raw[1:from-len("0000 ")])
	before := sum // without the last byte
	for i := from; i <= min(len(raw), MaxLine); i++ {
		if i == len(raw) || raw[i] == '@' {
			switch {
			case i > from && raw[i-1] == '\r':
				if before == want {
					text, n = raw[from:i-1], i
				}
			case sum == want:
				text, n = raw[from:i], i
			}
		}
		if i < len(raw) {
			before, sum = sum, sumString(sum, raw[i:i+1])
		}
	}
	return seq, text, n
}

// rest is what is no whole line.
func rest(raw string) Event {
	for at := range len(raw) {
		if raw[at] != '@' {
			continue
		}
		// A person's @ is followed by no number.
		if at+1 < len(raw) && raw[at+1] >= '1' && raw[at+1] <= '9' {
			_, _, err := Parse(raw[at:])
			return Event{Kind: Corrupt, Text: raw, Err: err}
		}
	}
	return Event{Kind: Noise, Text: raw}
}

// next takes a whole line.
func (d *Decoder) next(seq uint32, text string) Event {
	e := Event{Kind: Text, Seq: seq, Text: text}
	switch {
	case seq == 1:
		e.Restart = true
	case seq <= d.last:
		e.Repeated = true
		return e
	case d.last > 0:
		e.Lost = seq - d.last - 1
	}
	d.last = seq
	return e
}
