package actor

import "strconv"

// PID names one incarnation of one actor within its system. It is a plain
// value: comparable, immutable, and never given out again by the same system.
// The zero PID is no actor's. PIDs of different systems have nothing to do with
// each other.
type PID struct {
	slot uint32 // index into the system's table, counted from 1
	gen  uint32 // how many actors had the slot before
}

// IsZero reports whether p is the zero PID.
func (p PID) IsZero() bool { return p == PID{} }

// String returns the PID as text, "7" for the first user of a slot and "7.2"
// for a later one. [ParsePID] is its inverse.
func (p PID) String() string {
	var buf [21]byte
	return string(p.append(buf[:0]))
}

func (p PID) append(b []byte) []byte {
	b = strconv.AppendUint(b, uint64(p.slot), 10)
	if p.gen > 0 {
		b = append(b, '.')
		b = strconv.AppendUint(b, uint64(p.gen), 10)
	}
	return b
}

// ParsePID returns the PID that s is the text of, in exactly the form that
// [PID.String] gives it; false if there is none.
func ParsePID(s string) (PID, bool) {
	slot, gen := s, ""
	for i := range len(s) {
		if s[i] == '.' {
			slot, gen = s[:i], s[i+1:]
			break
		}
	}
	n, err := strconv.ParseUint(slot, 10, 32)
	if err != nil {
		return PID{}, false
	}
	p := PID{slot: uint32(n)}
	if gen != "" {
		g, err := strconv.ParseUint(gen, 10, 32)
		if err != nil {
			return PID{}, false
		}
		p.gen = uint32(g)
	}
	// Other spellings of the same numbers, such as 07 or 7.0, are errors.
	return p, p.String() == s
}
