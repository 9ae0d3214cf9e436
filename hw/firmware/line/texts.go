package line

import (
	"errors"
	"math"
	"strconv"

	"github.com/dynolab/dyno/internal/decimal"
)

// Protocol is the name and version with which a board says hello.
const Protocol = "dyno-firmware/1"

// Hello is who a board is. Its text is
//
//	hello dyno-firmware/1 board=… chip=… clock=… unit=… ram=… flash=… ram-free=… emulated=… impl=… toolchain=… commit=…
//
// with values that have spaces, quotes or nothing in them quoted as Go quotes
// strings.
type Hello struct {
	Board, Chip string
	Clock       float64 // ticks a second, to the thousandth
	Unit        string  // of ticks: "ns" or "insns"
	RAM, Flash  int     // bytes, as the linker sees them; 0: unknown or without a limit
	RAMFree     int     // bytes of the heap that are not in use, after a collection
	Emulated    bool
	Impl        string
	Toolchain   string
	Commit      string
}

// Append appends the text of h to dst.
func (h *Hello) Append(dst []byte) []byte {
	dst = append(dst, "hello "+Protocol...)
	dst = pair(dst, "board", h.Board)
	dst = pair(dst, "chip", h.Chip)
	dst = append(dst, " clock="...)
	dst = decimal.AppendShort(dst, h.Clock, 3)
	dst = pair(dst, "unit", h.Unit)
	dst = number(dst, "ram", h.RAM)
	dst = number(dst, "flash", h.Flash)
	dst = number(dst, "ram-free", h.RAMFree)
	dst = append(dst, " emulated="...)
	dst = strconv.AppendBool(dst, h.Emulated)
	dst = pair(dst, "impl", h.Impl)
	dst = pair(dst, "toolchain", h.Toolchain)
	return pair(dst, "commit", h.Commit)
}

func pair(dst []byte, key, value string) []byte {
	dst = append(append(append(dst, ' '), key...), '=')
	if plain(value) {
		return append(dst, value...)
	}
	return AppendQuoted(dst, value)
}

// AppendQuoted appends s to dst as Go quotes strings, in ASCII. strconv, which reads it on the host, would bring
// a table of 4 kB to boards to know what of Unicode can be printed.
func AppendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c >= 0x7f:
			dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func number(dst []byte, key string, n int) []byte {
	dst = append(append(append(dst, ' '), key...), '=')
	return strconv.AppendInt(dst, int64(n), 10)
}

// plain reports whether a value needs no quotes.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == '"' || s[i] == '\\' || s[i] >= 0x7f {
			return false
		}
	}
	return s != ""
}

// ParseHello reads the text of a Hello. Keys that it does not know are skipped: a
// newer firmware may say more.
func ParseHello(text string) (h Hello, err error) {
	verb, rest, _ := word(text)
	protocol, rest, _ := word(rest)
	switch {
	case verb != "hello":
		return h, errors.New("line: not a hello: " + strconv.Quote(text))
	case protocol != Protocol:
		return h, errors.New("line: the board speaks " + strconv.Quote(protocol) + " and not " + Protocol + ": build and flash its firmware again")
	}
	for rest != "" {
		var key, value string
		if key, value, rest, err = nextPair(rest); err != nil {
			return h, err
		}
		switch key {
		case "board":
			h.Board = value
		case "chip":
			h.Chip = value
		case "clock":
			h.Clock, err = strconv.ParseFloat(value, 64)
		case "unit":
			h.Unit = value
		case "ram":
			h.RAM, err = strconv.Atoi(value)
		case "flash":
			h.Flash, err = strconv.Atoi(value)
		case "ram-free":
			h.RAMFree, err = strconv.Atoi(value)
		case "emulated":
			h.Emulated, err = strconv.ParseBool(value)
		case "impl":
			h.Impl = value
		case "toolchain":
			h.Toolchain = value
		case "commit":
			h.Commit = value
		}
		if err != nil {
			return h, errors.New("line: hello says " + key + "=" + strconv.Quote(value))
		}
	}
	return h, nil
}

// nextPair takes the first key=value off s.
func nextPair(s string) (key, value, rest string, err error) {
	eq := 0
	for eq < len(s) && s[eq] != '=' && s[eq] != ' ' {
		eq++
	}
	if eq == 0 || eq == len(s) || s[eq] != '=' {
		return "", "", "", errors.New("line: not key=value: " + strconv.Quote(s))
	}
	key, s = s[:eq], s[eq+1:]
	if s == "" || s[0] != '"' {
		value, rest, _ = word(s)
		return key, value, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err == nil {
		value, err = strconv.Unquote(quoted)
	}
	rest = s[len(quoted):]
	if err != nil || rest != "" && rest[0] != ' ' {
		return "", "", "", errors.New("line: the value of " + key + " has no end: " + strconv.Quote(s))
	}
	if rest != "" {
		rest = rest[1:]
	}
	return key, value, rest, nil
}

// Listed is an entry of the answer to the command list. Its text is
//
//	case <name> <ops>
//	case <name> <ops> skipped <why>
type Listed struct {
	Name string
	Ops  int    // operations, or 0 if the case is no benchmark
	Skip string // why it would not be run; "" if it would
}

// Append appends the text of c to dst.
func (c *Listed) Append(dst []byte) []byte {
	dst = append(append(dst, "case "...), c.Name...)
	dst = strconv.AppendInt(append(dst, ' '), int64(c.Ops), 10)
	if c.Skip != "" {
		dst = append(append(dst, " skipped "...), c.Skip...)
	}
	return dst
}

// ParseListed reads the text of a Listed; ok is false if text is something else.
func ParseListed(text string) (c Listed, ok bool) {
	verb, rest, _ := word(text)
	name, rest, more := word(rest)
	if verb != "case" || name == "" || !more {
		return c, false
	}
	ops, rest, more := word(rest)
	n, err := strconv.Atoi(ops)
	if err != nil || n < 0 {
		return c, false
	}
	c = Listed{Name: name, Ops: n}
	if !more {
		return c, true
	}
	skipped, why, _ := word(rest)
	c.Skip = why
	return c, skipped == "skipped" && why != ""
}

// Verdict is how a command ended.
type Verdict uint8

const (
	// OK: it was carried out; a case has passed.
	OK Verdict = iota
	// Failed: a case has failed, or there is no such command; a line fail says why.
	Failed
	// Skipped: it was not carried out, for the reason given.
	Skipped
)

// String returns the verdict as it stands in a line.
func (v Verdict) String() string {
	switch v {
	case OK:
		return "ok"
	case Failed:
		return "failed"
	case Skipped:
		return "skipped"
	}
	return "?"
}

// An End is the last line of an answer. Its text is
//
//	end <command> ok
//	end <command> failed
//	end <command> skipped <why>
type End struct {
	Command string // as the board has understood it
	Verdict Verdict
	Why     string // of Skipped
}

// Append appends the text of e to dst.
func (e *End) Append(dst []byte) []byte {
	dst = append(append(dst, "end "...), e.Command...)
	dst = append(append(dst, ' '), e.Verdict.String()...)
	if e.Verdict == Skipped {
		dst = append(append(dst, ' '), e.Why...)
	}
	return dst
}

// ParseEnd reads the text of the last line of the answer to command; ok is false if
// text is something else.
func ParseEnd(text, command string) (e End, ok bool) {
	e.Command = command
	begin := "end " + command + " "
	if len(text) < len(begin) || text[:len(begin)] != begin {
		return e, false
	}
	verdict, why, _ := word(text[len(begin):])
	for _, e.Verdict = range []Verdict{OK, Failed, Skipped} {
		if verdict == e.Verdict.String() {
			e.Why = why
			return e, (why != "") == (e.Verdict == Skipped)
		}
	}
	return e, false
}

// SplitRequest takes the number of the request off the text of a line, or off a
// command. n is 0 and rest all of text if there is none: numbers begin with 1.
func SplitRequest(text string) (n uint32, rest string) {
	first, rest, more := word(text)
	if !more || first == "" || first[0] < '1' || first[0] > '9' {
		return 0, text
	}
	var v uint64
	for i := range len(first) { // strconv's error would bring Quote, and its table, to boards
		v = v*10 + uint64(first[i]-'0')
		if first[i] < '0' || first[i] > '9' || v > math.MaxUint32 {
			return 0, text
		}
	}
	return uint32(v), rest
}

// AppendCommand appends to dst the line that asks for command, with its line feed.
// n is the number of the request, which the lines of the answer begin with; 0 is
// none. It should be another one each time: a board takes a command with
// the number of the one before for an echo, and does not carry it out again.
func AppendCommand(dst []byte, n uint32, command string) []byte {
	if n > 0 {
		dst = append(strconv.AppendUint(dst, uint64(n), 10), ' ')
	}
	return append(append(dst, command...), '\n')
}

// The first words of texts, with the space behind them.
const (
	BeginPrefix  = "begin "
	ResultPrefix = "result "
	UnitPrefix   = "unit "
	NotePrefix   = "note "
	FailPrefix   = "fail "
)
