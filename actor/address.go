package actor

import (
	"errors"
	"strconv"
)

// Address names one incarnation of an actor in whatever system it lives: it is
// what a [Ref] is outside memory. It is a plain value, comparable with ==. The
// zero Address is no actor's.
//
// Its text is a URL, and its own exact inverse: [ParseAddress] takes what
// AppendText gives and nothing else.
//
//	dyno://chess@5f3a9c/user/room/anon-12#12
//
// In names, everything but ASCII letters, digits and -._~ is written as % and
// two hexadecimal digits. The text of the zero Address is empty.
//
// The binary form is shorter and quicker to read: a version, then each part in
// turn. That of the zero Address is empty, too.
//
// A PID is given out once by a system, not once for ever: a system that takes
// over the name of one that is gone gives the same PIDs again. Boot tells them
// apart; the text has it after the @, in hexadecimal digits.
type Address struct {
	// System is the name of the system: Config.Name.
	System string
	// Boot is the system's boot id: System.Boot. It is not 0.
	Boot uint64
	// Path is the path of the actor in it, such as "/user/room/anon-12".
	Path string
	// PID is the actor's PID in it.
	PID PID
}

// Errors of addresses.
var (
	// ErrBadAddress: the text or the bytes are not an address.
	ErrBadAddress = errors.New("actor: not an address")
)

const (
	scheme        = "dyno://"
	binaryVersion = 2
)

// IsZero reports whether a is the zero Address.
func (a Address) IsZero() bool { return a == Address{} }

// valid reports whether an actor can have the address.
func (a Address) valid() bool {
	if a.System == "" || a.Boot == 0 || a.PID.slot == 0 || len(a.Path) < 2 || a.Path[0] != '/' || a.Path[len(a.Path)-1] == '/' {
		return false
	}
	for i := range len(a.Path) - 1 {
		if a.Path[i] == '/' && a.Path[i+1] == '/' {
			return false
		}
	}
	return true
}

// String returns the text of the address; "the zero Address" for the zero Address, and
// "bad address" for one that no actor can have.
func (a Address) String() string {
	if a.IsZero() {
		return "the zero Address"
	}
	b, err := a.AppendText(nil)
	if err != nil {
		return "bad address"
	}
	return string(b)
}

// AppendText appends the text of the address to b. It returns [ErrBadAddress]
// if no actor can have it.
func (a Address) AppendText(b []byte) ([]byte, error) {
	if a.IsZero() {
		return b, nil
	}
	if !a.valid() {
		return b, ErrBadAddress
	}
	return a.appendText(b), nil
}

// MarshalText returns the text of the address.
func (a Address) MarshalText() ([]byte, error) { return a.AppendText(nil) }

// UnmarshalText sets a to the address with that text, as [ParseAddress] does.
func (a *Address) UnmarshalText(text []byte) error {
	x, err := ParseAddress(string(text))
	if err == nil {
		*a = x
	}
	return err
}

func (a Address) appendText(b []byte) []byte {
	b = append(b, scheme...)
	b = escape(b, a.System, false)
	b = strconv.AppendUint(append(b, '@'), a.Boot, 16)
	b = escape(b, a.Path, true)
	b = append(b, '#')
	return a.PID.append(b)
}

// ParseAddress returns the address with that text; or [ErrBadAddress].
func ParseAddress(text string) (Address, error) {
	if text == "" {
		return Address{}, nil
	}
	if len(text) < len(scheme) || text[:len(scheme)] != scheme {
		return Address{}, ErrBadAddress
	}
	rest := text[len(scheme):]
	at, slash, hash := len(rest), len(rest), len(rest)
	for i := range len(rest) {
		switch {
		case rest[i] == '@' && at == len(rest):
			at = i
		case rest[i] == '/' && slash == len(rest):
			slash = i
		case rest[i] == '#' && hash == len(rest):
			hash = i
		}
	}
	if hash == len(rest) || slash > hash || at > slash {
		return Address{}, ErrBadAddress
	}
	system, ok1 := unescape(rest[:at])
	boot, err := strconv.ParseUint(rest[at+1:slash], 16, 64)
	path, ok2 := unescape(rest[slash:hash])
	pid, ok3 := ParsePID(rest[hash+1:])
	a := Address{System: system, Boot: boot, Path: path, PID: pid}
	// Other spellings of the same address are errors, so that equal texts and
	// equal addresses are the same thing. An escaped slash in the path is one
	// of them: no name contains it.
	if err != nil || !ok1 || !ok2 || !ok3 || !a.valid() || string(a.appendText(nil)) != text {
		return Address{}, ErrBadAddress
	}
	return a, nil
}

// AppendBinary appends the binary form of the address to b. It returns
// [ErrBadAddress] if no actor can have it.
func (a Address) AppendBinary(b []byte) ([]byte, error) {
	if a.IsZero() {
		return b, nil
	}
	if !a.valid() {
		return b, ErrBadAddress
	}
	return a.appendBinary(b), nil
}

// MarshalBinary returns the binary form of the address.
func (a Address) MarshalBinary() ([]byte, error) { return a.AppendBinary(nil) }

// UnmarshalBinary sets a to the address with that binary form; or returns
// [ErrBadAddress]. Like the text, the form is the only one of its address.
func (a *Address) UnmarshalBinary(data []byte) error {
	if len(data) == 0 {
		*a = Address{}
		return nil
	}
	if data[0] != binaryVersion {
		return ErrBadAddress
	}
	rest := data[1:]
	slot, rest := number(rest)
	gen, rest := number(rest)
	boot, rest := word(rest)
	system, rest := text(rest)
	path, rest := text(rest)
	x := Address{System: system, Boot: boot, Path: path, PID: PID{slot: slot, gen: gen}}
	if len(rest) != 0 || !x.valid() || string(x.appendBinary(nil)) != string(data) {
		return ErrBadAddress
	}
	*a = x
	return nil
}

// appendBinary appends the version, the PID's two numbers, the boot id, the system
// and the path, each of these two with its length before it. Numbers are written
// seven bits a byte, the lowest first; the boot id is random, and so in eight
// bytes, the highest first.
func (a Address) appendBinary(b []byte) []byte {
	b = append(b, binaryVersion)
	b = appendNumber(b, uint64(a.PID.slot))
	b = appendNumber(b, uint64(a.PID.gen))
	for shift := 56; shift >= 0; shift -= 8 {
		b = append(b, byte(a.Boot>>shift))
	}
	b = append(appendNumber(b, uint64(len(a.System))), a.System...)
	return append(appendNumber(b, uint64(len(a.Path))), a.Path...)
}

func appendNumber(b []byte, n uint64) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// number takes a number off the front of b. What is no number comes out as one
// that is written differently, which the caller finds when it writes it.
func number(b []byte) (uint32, []byte) {
	var n uint64
	for i := 0; i < len(b) && i < 5; i++ {
		n |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return uint32(n), b[i+1:]
		}
	}
	return 0, nil
}

// word takes eight bytes off the front of b, the highest first.
func word(b []byte) (n uint64, rest []byte) {
	if len(b) < 8 {
		return 0, nil
	}
	for _, c := range b[:8] {
		n = n<<8 | uint64(c)
	}
	return n, b[8:]
}

// text takes a string with its length off the front of b.
func text(b []byte) (string, []byte) {
	n, rest := number(b)
	if uint64(n) > uint64(len(rest)) {
		return "", nil
	}
	return string(rest[:n]), rest[n:]
}

const hexDigits = "0123456789ABCDEF"

// escape appends s to b in the form that stands in a URL. slash says whether a
// slash stays as it is.
func escape(b []byte, s string, slash bool) []byte {
	for i := range len(s) {
		c := s[i]
		if bare(c) || slash && c == '/' {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return b
}

// bare reports whether c means itself everywhere in a URL.
func bare(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

// unescape undoes escape, and more: the caller sees that s is what escape gives.
func unescape(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		b = append(b, hexValue(s[i+1])<<4|hexValue(s[i+2]))
		i += 2
	}
	return string(b), true
}

// hexValue returns the value of a digit that escape writes; what it returns for
// others does not matter, as they are not written again.
func hexValue(c byte) byte {
	if c >= 'A' {
		return (c - 'A' + 10) & 15
	}
	return (c - '0') & 15
}

// Address returns the address of the actor: what is left of r when it leaves
// the process.
func (r Ref) Address() Address {
	if r.cell == nil {
		return Address{}
	}
	if p, ok := r.cell.port.(*proxy); ok {
		return p.address()
	}
	s := r.cell.system
	return Address{System: s.name, Boot: s.boot, Path: r.Path(), PID: r.cell.pid}
}

// AppendText appends the text of the actor's address to b, nothing for the zero
// Ref. [System.Resolve] is its inverse. The error is always nil.
func (r Ref) AppendText(b []byte) ([]byte, error) { return r.Address().AppendText(b) }

// MarshalText returns the text of the actor's address, so that packages such as
// encoding/json write Refs. To read one takes a system: read an [Address], and
// have [System.ResolveAddress] find the actor.
func (r Ref) MarshalText() ([]byte, error) { return r.AppendText(nil) }

// AppendBinary appends the binary form of the actor's address to b, nothing for
// the zero Ref. [System.ResolveBinary] is its inverse. The error is always nil.
func (r Ref) AppendBinary(b []byte) ([]byte, error) { return r.Address().AppendBinary(b) }

// MarshalBinary returns the binary form of the actor's address, as MarshalText
// does its text.
func (r Ref) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// Resolve returns the actor whose address has that text. See ResolveAddress.
func (s *System) Resolve(text string) (Ref, error) {
	a, err := ParseAddress(text)
	if err != nil {
		return Ref{}, err
	}
	return s.ResolveAddress(a)
}

// ResolveBinary returns the actor whose address has that binary form. See
// ResolveAddress.
func (s *System) ResolveBinary(data []byte) (Ref, error) {
	var a Address
	if err := a.UnmarshalBinary(data); err != nil {
		return Ref{}, err
	}
	return s.ResolveAddress(a)
}

// ResolveAddress returns the actor that has the address. If that is in this
// system, it is the one incarnation that the address names, or [ErrUnknown] if
// it has stopped or never was. If it is in another one, the Ref goes over the
// link to that, whether there is such an actor or not; without a link the error
// is [ErrNoLink]. Of an incarnation of a system that another one has followed it
// is [ErrStopped]. The zero Address is that of the zero Ref.
func (s *System) ResolveAddress(a Address) (Ref, error) {
	switch {
	case a.IsZero():
		return Ref{}, nil
	case !a.valid():
		return Ref{}, ErrBadAddress
	case a.System != s.name:
		return s.remote.resolve(s, a)
	case a.Boot != s.boot:
		return Ref{}, ErrStopped
	}
	var buf [64]byte
	c := s.table.find(a.PID)
	if c == nil || string(c.appendPath(buf[:0])) != a.Path {
		return Ref{}, ErrUnknown
	}
	return Ref{c}, nil
}
