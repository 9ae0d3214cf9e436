package program

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// PROTOCOL.md describes the protocol for those who implement it in a
// program; a test holds that it has all that stands here.

// Version is the protocol's version. It changes when a program of before would
// misunderstand what it is told. What is added without harm – a field that a program
// may ignore, a kind of value that Process ignores – does not change it.
const Version = 1

// Variable is the environment variable by which a program is driven. Its value is
// fields with spaces between them: key=value, or listWord alone.
const Variable = "DYNO_DRIVE"

// The fields of Variable.
const (
	fieldProtocol   = "protocol"   // Version
	fieldProcessors = "processors" // that the benchmark may use at a time, at least 1
	fieldSlow       = "slow"       // Config.Slow
	fieldCounters   = "counters"   // "true" or "false": Config.Counters
	fieldName       = "name"       // of the benchmark
	listWord        = "list"       // asks for the names of benchmarks
)

// A command is a line that a program is given: a word, and some have arguments. answer
// is the word that begins the line that it answers.
type command struct{ word, answer string }

var (
	commandRun        = command{"run", "slice"}
	commandCall       = command{"call", "slice"}
	commandUsage      = command{"usage", "usage"}
	commandReset      = command{"reset", "reset"}
	commandProfile    = command{"profile", "profile"}
	commandEndProfile = command{"endprofile", "profile"}
	commandFinish     = command{"finish", "result"}
)

// commands are all of them.
var commands = []command{commandRun, commandCall, commandUsage, commandReset, commandProfile, commandEndProfile, commandFinish}

// What a program says that is no answer to a command: that it is ready, or, in the
// place of that and of any answer, why there is nothing to measure.
const (
	saysHello   = "hello"
	saysRefused = "refused" // a Refusal
	saysSkipped = "skipped" // a Failure
	saysFailed  = "failed"  // a Failure
)

// The kinds of values at the end of an answer, by the letter before their names. Other
// kinds are ignored.
const (
	kindExtra    = "x" // a metric that the benchmark reports
	kindCounter  = "c" // what moved during a slice
	kindResource = "r" // what the process has used
)

// drive returns what Variable says.
func (c Config) drive() string {
	return strings.Join([]string{
		fieldProtocol + "=" + strconv.Itoa(Version),
		fieldProcessors + "=" + strconv.Itoa(c.CPU),
		fieldSlow + "=" + strconv.FormatFloat(c.Slow, 'g', -1, 64),
		fieldCounters + "=" + strconv.FormatBool(c.Counters),
		fieldName + "=" + c.Benchmark,
	}, " ")
}

// An answer is a line of words between tabs.
type answer struct {
	fields []string // that are left
	err    error    // the first one
}

// next takes the next word.
func (a *answer) next() string {
	if len(a.fields) == 0 {
		a.fault(io.ErrUnexpectedEOF)
		return ""
	}
	s := a.fields[0]
	a.fields = a.fields[1:]
	return s
}

func (a *answer) fault(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *answer) uint() uint64 {
	n, err := strconv.ParseUint(a.next(), 10, 64)
	if err != nil {
		a.fault(err)
	}
	return n
}

// notKnown stands in the place of an optional field that is not the last one.
const notKnown = "-"

// more reports whether there is a further word that is not a value: the fields at the
// end of an answer may be left out.
func (a *answer) more() bool { return len(a.fields) > 0 && !isValue(a.fields[0]) }

// optional is uint for a field that may be left out; known is false then.
func (a *answer) optional() (n uint64, known bool) {
	if !a.more() {
		return 0, false
	}
	if a.fields[0] == notKnown {
		a.next()
		return 0, false
	}
	return a.uint(), true
}

// duration takes nanoseconds that may be left out, which means 0.
func (a *answer) duration() time.Duration {
	n, _ := a.optional()
	return a.nanoseconds(n)
}

// nanoseconds returns n as a duration.
func (a *answer) nanoseconds(n uint64) time.Duration {
	if n > math.MaxInt64 {
		a.fault(fmt.Errorf("%d ns are more than three hundred years", n))
		return 0
	}
	return time.Duration(n)
}

// optionalText takes a text, which stands in quotes; "" if it is left out.
func (a *answer) optionalText() string {
	if !a.more() {
		return ""
	}
	s, err := strconv.Unquote(a.next())
	if err != nil {
		a.fault(err)
	}
	return s
}

// isValue reports whether a field is a value: a letter, a colon, a name and a number. A
// text begins with a quote.
func isValue(field string) bool { return len(field) > 1 && field[0] != '"' && field[1] == ':' }

// values takes all that is left, by kind and name.
func (a *answer) values() map[string]map[string]float64 {
	all := make(map[string]map[string]float64)
	for len(a.fields) > 0 {
		field := a.next()
		kind, named, _ := strings.Cut(field, ":")
		i := strings.LastIndexByte(named, '=') // units may have one
		if i < 1 || strings.ContainsFunc(named[:i], unicode.IsSpace) {
			a.fault(fmt.Errorf("%q is no value", field))
			return nil
		}
		v, err := strconv.ParseFloat(named[i+1:], 64)
		if err != nil {
			a.fault(fmt.Errorf("%q is no number", field))
		}
		if all[kind] == nil {
			all[kind] = make(map[string]float64)
		}
		all[kind][named[:i]] = v
	}
	return all
}
