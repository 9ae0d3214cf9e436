// Package decimal writes numbers with a point, digit for digit as strconv.AppendFloat writes
// them in format 'f', in a few hundred bytes of flash: strconv brings 14 kB, 11 of them a table
// of powers of ten, to find the shortest text of any number, which figures do not need.
package decimal

import (
	"math"
	"math/bits"
	"strconv"
)

// MostPlaces is how many digits behind the point there may be.
const MostPlaces = 7

// tooLarge is the least number that is written as infinity: what is counted in an int64 is less.
const tooLarge = 1 << 63

// Append appends v to dst with so many digits behind the point, 0 to [MostPlaces], the last of
// them rounded half to even. It panics if there are to be more.
func Append(dst []byte, v float64, places int) []byte {
	if places < 0 || places > MostPlaces {
		panic("decimal: places must be 0 to 7")
	}
	switch {
	case v != v:
		return append(dst, "NaN"...)
	case v >= tooLarge:
		return append(dst, "+Inf"...)
	case v <= -tooLarge:
		return append(dst, "-Inf"...)
	case math.Signbit(v):
		dst, v = append(dst, '-'), -v
	}
	scale := uint64(1)
	for range places {
		scale *= 10
	}
	whole := uint64(v)
	part := times(v-float64(whole), scale, scale == 1 && whole%2 == 1)
	if part == scale {
		whole, part = whole+1, 0
	}
	dst = strconv.AppendUint(dst, whole, 10)
	if places == 0 {
		return dst
	}
	dst = append(dst, '.')
	for scale /= 10; scale > 0; scale /= 10 {
		dst = append(dst, byte('0'+part/scale%10))
	}
	return dst
}

// AppendShort is Append without zeros at the end of what is behind the point, nor a point with
// nothing behind it.
func AppendShort(dst []byte, v float64, places int) []byte {
	dst = Append(dst, v, places)
	if places == 0 {
		return dst
	}
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// times returns x · scale, rounded half to even, for 0 ≤ x < 1 and a scale of up to ten million. With odd, what
// is even counts as odd.
func times(x float64, scale uint64, odd bool) uint64 {
	fraction, exponent := math.Frexp(x) // x = mantissa · 2^-shift
	mantissa, shift := uint64(fraction*(1<<53)), uint(53-exponent)
	high, low := bits.Mul64(mantissa, scale) // exact
	var (
		n    uint64
		rest uint64 // what is cut off, in units of 2^-64
		more bool   // there is more than rest
	)
	if shift <= 64 {
		n, rest = high<<(64-shift)|low>>shift, low<<(64-shift)
	} else {
		shift -= 64
		n, rest = high>>shift, high<<(64-shift)|low>>shift
		more = low<<(64-shift) != 0
	}
	const half = 1 << 63
	if rest > half || rest == half && (more || n%2 == 1 || odd) {
		n++
	}
	return n
}
