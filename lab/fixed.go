package lab

import (
	"strconv"
	"time"
)

// RunFixed runs one step's benchmark for n operations in a process of its own and
// returns its benchmark line. flags are further flags of the test binary, such as
// those that write profiles. A process that fails, or takes longer than timeout,
// gives an error that says why, with the output that [FailureOutput] returns. One
// that is ended because kill was closed gives [ErrInterrupted].
func (s Subject) RunFixed(step Step, n int, flags []string, timeout time.Duration, kill <-chan struct{}) (string, error) {
	text, err := invocation{
		subject: s,
		args: append([]string{
			"-test.run=^$",
			"-test.bench=" + step.Case.pattern(),
			"-test.skip=" + step.Case.beneath(),
			"-test.benchtime=" + strconv.Itoa(n) + "x",
			"-test.cpu=" + strconv.Itoa(step.CPU),
			"-test.count=1",
			"-test.timeout=0", // as in measure
		}, flags...),
		timeout: timeout,
		kill:    kill,
	}.run()
	if err == errKilled {
		return "", ErrInterrupted
	}
	if err != nil {
		return "", err
	}
	return resultLines(text, step.FullName(), 1)
}
