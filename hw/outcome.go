package hw

import (
	"errors"
	"strings"

	"github.com/dynolab/dyno/internal/failure"
)

// An Outcome says how far it came with a board, an implementation or a case. The
// later ones come later on the way from a source to a figure, so of several the
// greatest says most.
type Outcome int

// The outcomes. Their order is part of what users see: [Outcome.ExitCode] follows
// it.
const (
	// OK: a figure, a clause that is kept, or a skip with a reason.
	OK Outcome = iota
	// ToolchainMissing: a program that the board needs is not on this machine, or
	// too old.
	ToolchainMissing
	// BuildFailed: the compiler or linker refuses.
	BuildFailed
	// TooBig: the image needs more flash or RAM than the board has.
	TooBig
	// FlashFailed: the image could not be brought to the board.
	FlashFailed
	// NoConsole: there is no port, or nothing there that speaks the firmware's protocol
	// answers on it.
	NoConsole
	// CorruptedLine: a line was damaged or lost on the way.
	CorruptedLine
	// Hung: the board said nothing for too long, or did not end.
	Hung
	// Crashed: the program panicked, ended or started anew in the middle of a case.
	Crashed
	// OutOfMemory: no memory was left, or a stack overflowed.
	OutOfMemory
	// WrongResult: the case ran and did not do what it should: a check or a clause
	// failed, or what the board says is none of what it was asked for.
	WrongResult
)

// outcomes has what users are told of each outcome.
var outcomes = [...]struct{ name, hint string }{
	OK:               {"ok", ""},
	ToolchainMissing: {"toolchain missing", "install what is missing; docs/boards.md says how"},
	BuildFailed:      {"build failed", "the compiler's message says where; if it is about a package of the standard library, that is not one that boards have"},
	TooBig:           {"too big", "the table says which packages need most; fewer --parts need less, and implementations differ"},
	FlashFailed:      {"flash failed", "check the cable, the port in the hardware map and your right to open it; some boards need a button held while they are connected"},
	NoConsole:        {"no console", "check the cable, the port in the hardware map and your right to open it, that no other program has the port, and that the firmware was flashed"},
	CorruptedLine:    {"corrupted line", "nothing was counted from this case; run it again, and if it comes back use a shorter cable or another port"},
	Hung:             {"hung", "the last lines say where it was; a deadlock hangs silently on a board, and so does a stack that overflowed; a slow board may need a longer --silence, or --timeout"},
	Crashed:          {"crashed", "the last lines say why; run the same case of a Linux board, where a panic has a stack"},
	OutOfMemory:      {"out of memory", "see the RAM that the image leaves (benchrun board build); fewer --parts leave more, and so does a smaller stack if there are many goroutines"},
	WrongResult:      {"wrong result", "this is a defect, not noise: run the clause or workload on the host with the same implementation"},
}

// Outcomes returns all outcomes in order, OK first.
func Outcomes() []Outcome {
	all := make([]Outcome, len(outcomes))
	for i := range all {
		all[i] = Outcome(i)
	}
	return all
}

// String returns the outcome's name as tables have it, such as "too big".
func (o Outcome) String() string { return outcomes[o].name }

// outcomeNamed returns the outcome with this name, OK if there is none.
func outcomeNamed(name string) Outcome {
	for o, is := range outcomes {
		if is.name == name {
			return Outcome(o)
		}
	}
	return OK
}

// Hint says in a sentence what to do about the outcome; "" for OK.
func (o Outcome) Hint() string { return outcomes[o].hint }

// ExitCode returns the exit status of a command that ends with this outcome: 0 for
// OK, and from 11 on in the outcomes' order, which leaves those below 10 to the
// command.
func (o Outcome) ExitCode() int {
	if o == OK {
		return 0
	}
	return 10 + int(o)
}

// An Error is why something on the way to a figure failed.
type Error struct {
	Outcome Outcome
	// What is what happened, in one line.
	What string
	// Do is what to do about it if that is more than the outcome's hint; "" for
	// that.
	Do string
	// Output is what the compiler, the flasher or the board said last, several
	// lines; "" if it said nothing.
	Output string
	// Err is the error behind it, nil if there is none.
	Err error

	unbegun bool // it hung before it began what it was told to do
}

// Error returns what happened, with the outcome's name before it.
func (e *Error) Error() string { return e.Outcome.String() + ": " + e.reason() }

// reason returns what happened, for those who say the outcome themselves.
func (e *Error) reason() string {
	if e.Err != nil && !strings.Contains(e.What, e.Err.Error()) {
		return e.What + ": " + e.Err.Error()
	}
	return e.What
}

// FailureKind is for [failure.Of]: what has no kind that other subjects have is named as its
// outcome.
func (e *Error) FailureKind() failure.Kind {
	if kind, ok := hostKinds[e.Outcome]; ok {
		return kind
	}
	return failure.Kind(e.Outcome.String())
}

// hostKinds are those that failures on hosts have as well.
var hostKinds = map[Outcome]failure.Kind{Hung: failure.Hang, Crashed: failure.Crash}

// Unwrap returns the error behind it.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *Error) Hint() string {
	if e.Do != "" {
		return e.Do
	}
	return e.Outcome.Hint()
}

// outcome takes an error of this package, and passes on any other.
func outcome(err error) (*Error, error) {
	var e *Error
	if errors.As(err, &e) {
		return e, nil
	}
	return nil, err
}

// outcomeIs reports whether err has the outcome.
func outcomeIs(err error, o Outcome) bool {
	e, _ := outcome(err)
	return e != nil && e.Outcome == o
}

// failed makes an error of this package.
func failed(o Outcome, what string, err error) *Error {
	return &Error{Outcome: o, What: what, Err: err}
}

// failedBut makes an error whose hint is not the outcome's.
func failedBut(o Outcome, what, do string) *Error {
	return &Error{Outcome: o, What: what, Do: do}
}
