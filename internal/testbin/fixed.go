package testbin

import (
	"strconv"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// RunFixed runs one step's benchmark for n operations in a process of its own and
// returns its benchmark line. flags are further flags of the test binary, such as
// those that write profiles. A process that fails, or takes longer than timeout,
// gives an error that says why, with the output that [program.Output] returns. One
// that is ended because kill was closed gives [ErrInterrupted].
func (s Binary) RunFixed(step record.Step, n int, flags []string, timeout time.Duration, kill <-chan struct{}) (string, error) {
	text, err := invocation{
		subject: s,
		args: append([]string{
			"-test.run=^$",
			"-test.bench=" + step.Case.Pattern(),
			"-test.skip=" + step.Case.Beneath(),
			"-test.benchtime=" + strconv.Itoa(n) + "x",
			"-test.cpu=" + strconv.Itoa(step.CPU),
			"-test.count=1",
			"-test.timeout=0", // as in measure
		}, flags...),
		timeout: timeout,
		kill:    kill,
	}.run()
	if err == program.ErrKilled {
		return "", session.ErrInterrupted
	}
	if err != nil {
		return "", err
	}
	return resultLines(text, step.FullName(), 1)
}
