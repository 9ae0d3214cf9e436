// Package failure has the kinds of failures: what programs decide by. Reasons are for people.
package failure

import "errors"

// A Kind is why there is no result, as far as programs have to know it. Results files have
// it. Boards have kinds of their own, such as "too big".
type Kind string

// The kinds. The zero value is any other.
const (
	Crash     Kind = "crash"     // the process panicked, or the runtime ended it
	Fail      Kind = "fail"      // the benchmark says that it failed
	Hang      Kind = "hang"      // it took too long
	Skip      Kind = "skip"      // the benchmark skipped itself
	Exit      Kind = "exit"      // the process ended with a status, and nothing says why
	Unstarted Kind = "unstarted" // the process ended with success before it was ready
	Gone      Kind = "gone"      // only the other of two versions has it
	Unchanged Kind = "unchanged" // it can reach nothing that differs in two versions
)

// Of returns the kind that err, or an error that it wraps, has by its method FailureKind.
func Of(err error) Kind {
	var e interface{ FailureKind() Kind }
	if errors.As(err, &e) {
		return e.FailureKind()
	}
	return ""
}
