// Package line is the protocol between a board and its host: lines of text that
// a person can read and type, and that show when a byte of them is lost.
//
// From the board to the host a line is
//
//	@<seq> <crc> <text>
//
// with a line feed behind it. seq counts the lines since the board started, from
// 1 and in decimal; crc is the CRC-16/CCITT-FALSE of "<seq> <text>" in four
// hexadecimal digits. What is not framed so is noise: a boot loader's words, a
// runtime's panic. It is shown and never a result.
//
// From the host to the board a line is a command: hello, list, run <case>, reset
// or quit. A number may stand in front of it, and then stands in front of
// every line of the answer:
//
//	7 run bench/Actor/workload=pingpong/impl=serial
//
//	@12 0f3a 7 begin run bench/Actor/workload=pingpong/impl=serial
//	@13 77b1 7 result BenchmarkActor/workload=pingpong/impl=serial 1000 312 insns/op 0 B/op 0 allocs/op
//	@14 c02d 7 end run bench/Actor/workload=pingpong/impl=serial ok
//
// The first and the last line of an answer repeat the command as the board has
// understood it, so that a command that was altered on its way is noticed, too.
//
// How the texts are told apart:
//
//	hello …            who the board is: see [Hello]; also sent unasked, at the start
//	case …             an entry of the answer to list: see [Listed]
//	begin <command>    the first line of an answer
//	result <line>      a line of Go's benchmark format
//	unit <line>        what is to be known of a unit in it, as a Unit line of that format
//	                   without the first word: "p50-ns better=lower"
//	note <text>        for people; "note log <level> <actor>: <text>" is an event of actors
//	fail <reason>      why there is no result
//	end <command> …    the last line of an answer: see [End]
//
// The package frames and takes apart; what commands do is package firmware's
// affair, and waiting and giving up that of package hw. It is for both sides and
// board-safe: a firmware carries only what it uses.
package line

import (
	"errors"
	"strconv"
)

// MaxText is the most bytes of text that a board puts into a line. Longer text is
// cut off: what a line has to say fits, and both sides can bound their buffers.
const MaxText = 1000

// MaxLine is the most bytes of a whole line, with its line feed.
const MaxLine = 1 + 20 + 1 + 4 + 1 + MaxText + 1

// Append appends to dst the line number seq with the given text, and returns the
// extended slice; it allocates only if dst has too little room. Bytes that are no
// printable text are replaced: a line feed by a space, since it would end the line,
// others by '?'. Text beyond MaxText is cut off.
func Append(dst []byte, seq uint32, text []byte) []byte {
	dst = append(dst, '@')
	from := len(dst)
	dst = strconv.AppendUint(dst, uint64(seq), 10)
	dst = append(dst, ' ')
	crc := Sum(initial, dst[from:])
	dst = append(dst, "0000 "...)
	at := len(dst)
	dst = append(dst, text[:cut(text)]...)
	for i, b := range dst[at:] {
		dst[at+i] = printable(b)
	}
	crc = Sum(crc, dst[at:])
	for i := range 4 {
		dst[at-2-i] = hexDigits[crc&0xf]
		crc >>= 4
	}
	return append(dst, '\n')
}

const hexDigits = "0123456789abcdef"

// cut returns how much of text goes into a line: no more than MaxText, and no part
// of a character.
func cut(text []byte) int {
	if len(text) <= MaxText {
		return len(text)
	}
	n := MaxText
	for n > 0 && text[n]&0xc0 == 0x80 { // in the middle of a character of UTF-8
		n--
	}
	return n
}

// printable returns what stands for b in a line.
func printable(b byte) byte {
	switch {
	case b == '\n' || b == '\r' || b == '\t':
		return ' '
	case b < ' ' || b == 0x7f:
		return '?'
	}
	return b
}

// initial is the state of a CRC before the first byte.
const initial uint16 = 0xffff

// Sum continues a CRC-16/CCITT-FALSE over p: polynomial 0x1021, first state
// 0xffff, nothing reflected. It goes bit by bit, since a table would take 512
// bytes of a board's flash to save some 50 instructions a byte on lines that a
// serial port takes 87 µs a byte for.
func Sum(crc uint16, p []byte) uint16 {
	for _, b := range p {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

var (
	// ErrNoise says that a line does not begin as one of the firmware's does.
	ErrNoise = errors.New("line: not a line of the firmware's")

	// ErrFrame says that a line begins as one of the firmware's does and does not
	// go on as one: bytes of it are missing.
	ErrFrame = errors.New("line: bytes are missing: no number and checksum")

	// ErrSum says that a line is not the one that was sent.
	ErrSum = errors.New("line: the checksum is wrong: bytes were lost or altered")
)

// Parse takes apart a line, without its line feed; a carriage return before that
// is left out. It returns ErrNoise, ErrFrame or ErrSum if it is not a whole line
// of the firmware's.
func Parse(raw string) (seq uint32, text string, err error) {
	long := len(raw) > MaxLine // a line feed was lost
	if n := len(raw); n > 0 && raw[n-1] == '\r' {
		raw = raw[:n-1]
	}
	if raw == "" || raw[0] != '@' {
		return 0, "", ErrNoise
	}
	seq, want, from, ok := head(raw)
	if !ok || long {
		return 0, "", ErrFrame
	}
	text = raw[from:]
	if sumString(sumString(initial, raw[1:from-len("0000 ")]), text) != want {
		return 0, "", ErrSum
	}
	return seq, text, nil
}

// head takes apart the head of a line, which begins with an @: its number, its checksum,
// and where its text begins. ok is false if that is no head.
func head(raw string) (seq uint32, sum uint16, from int, ok bool) {
	const digits = len("4294967295")
	number, _, ok := word(raw[1:min(len(raw), 1+digits+1)])
	if !ok {
		return 0, 0, 0, false
	}
	rest := raw[1+len(number)+1:]
	if len(rest) < len("0000 ") || rest[len("0000")] != ' ' {
		return 0, 0, 0, false
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || number[0] == '0' {
		return 0, 0, 0, false
	}
	want, err := strconv.ParseUint(rest[:len("0000")], 16, 16)
	if err != nil {
		return 0, 0, 0, false
	}
	return uint32(n), uint16(want), len(raw) - len(rest) + len("0000 "), true
}

// sumString is Sum of a string.
func sumString(crc uint16, s string) uint16 {
	for i := range len(s) {
		crc = Sum(crc, []byte{s[i]})
	}
	return crc
}

// word returns what is before the first space of s and what is after it.
func word(s string) (first, rest string, ok bool) {
	for i := range len(s) {
		if s[i] == ' ' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
