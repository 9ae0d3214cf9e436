package compare

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/record"
)

// IsEmulated reports whether a value of the key emulated says that the figures
// come from an emulator. Files that say nothing are of real machines.
func IsEmulated(value string) bool { return value != "" && value != "false" && value != "no" }

// Emulated reports whether any result of the file was emulated.
func (f File) Emulated() bool {
	return slices.ContainsFunc(f.Values(record.EmulatedKey), IsEmulated)
}

// Board is the board that gave the results, all of them if there are several; ""
// for a host's.
func (f File) Board() string { return strings.Join(f.Values(record.BoardKey), ", ") }

// Value returns the values of a configuration key, joined as those of a calibration's
// circumstances are; "" if there is none.
func (f File) Value(key string) string { return strings.Join(f.Values(key), "; ") }

// Values returns the values of a configuration key, in order of appearance.
func (f File) Values(key string) []string {
	for _, s := range f.Config {
		if s.Key == key {
			return s.Values
		}
	}
	return nil
}

// A maker is what a result comes from, as far as comparisons care.
type maker struct {
	board    string
	emulated bool
}

func makerOf(r *benchfmt.Result) maker {
	return maker{record.ConfigOf(r, record.BoardKey), IsEmulated(record.ConfigOf(r, record.EmulatedKey))}
}

// String names it in a message.
func (m maker) String() string {
	switch {
	case m.board != "" && m.emulated:
		return m.board + " (emulated)"
	case m.board != "":
		return m.board + " (a real board)"
	case m.emulated:
		return "an emulated machine"
	}
	return "a host"
}

// checkMakers returns an error if results of these makers must not be compared:
// an emulated figure is compared to those of the same emulated board only. An
// instruction takes the emulator as long as any other, so that its ratio to real
// time, or to the instructions of another processor, says nothing.
func checkMakers(makers []maker) error {
	emulated := slices.IndexFunc(makers, func(m maker) bool { return m.emulated })
	if emulated < 0 {
		return nil
	}
	one := makers[emulated]
	other := slices.IndexFunc(makers, func(m maker) bool { return m != one })
	if other < 0 {
		return nil
	}
	const rest = "; benchrun report shows them side by side, and --filter '%s' takes one of them"
	if other := makers[other]; other.emulated {
		return fmt.Errorf("%s and %s are not compared: what one emulated board takes says nothing of another"+rest, one, other, "board:"+one.board)
	}
	return fmt.Errorf("%s and %s are not compared: emulated figures are no measure of real time"+rest, one, makers[other], record.EmulatedKey+":false")
}
