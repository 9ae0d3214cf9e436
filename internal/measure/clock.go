package measure

// Clock tells the time in ticks. Its methods may be called by any goroutine.
type Clock interface {
	// Now returns how many ticks have passed since some moment in the past. It
	// never goes back.
	Now() int64

	// Hz returns how many ticks are a second: of the world, or of what an emulator
	// makes its program believe. It is a whole number, from 1 to 9·10⁹.
	Hz() float64

	// Unit returns what the clock counts and figures are in: [Nanoseconds] of real
	// time, whatever Hz is, or [Instructions] of an emulator.
	Unit() string
}

// What a clock counts.
const (
	Nanoseconds  = "ns"
	Instructions = "insns"
)

// Amount converts ticks of c into its unit: instructions are ticks, nanoseconds are
// calculated.
func Amount(c Clock, ticks float64) float64 {
	if c.Unit() == Instructions {
		return ticks
	}
	return ticks * (1e9 / c.Hz())
}

// ToNanoseconds converts ticks of c into nanoseconds, of the clock's own time. It is
// right to the tick for nearly 300 years of it.
func ToNanoseconds(c Clock, ticks int64) int64 { return scale(ticks, 1e9, int64(c.Hz())) }

// ToTicks converts nanoseconds of a clock's own time into its ticks.
func ToTicks(c Clock, ns int64) int64 { return scale(ns, int64(c.Hz()), 1e9) }

// scale returns v·to/from, rounded down, without the product running over.
func scale(v, to, from int64) int64 {
	if from <= 0 {
		return 0
	}
	return v/from*to + v%from*to/from
}

// Overhead returns what it takes to look at the clock: the least ticks between two
// looks, of several. Measure subtracts it.
func Overhead(c Clock) int64 {
	const looks = 16 // the first ones wait for the flash to be read
	least := int64(-1)
	last := c.Now()
	for range looks {
		now := c.Now()
		if d := now - last; least < 0 || d < least {
			least = d
		}
		last = now
	}
	return least
}
