package testbin

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// Drive is [program.Start] for a test binary that was built with the [Overlay]: it has
// it run c.Benchmark and nothing else. c.Args are further flags, such as -test.benchmem.
func Drive(ctx context.Context, c program.Config) (*program.Process, error) {
	c.CPU = max(c.CPU, 1)
	c.Args = append(flags(record.Case{Name: c.Benchmark}, "1x", c.CPU, 1), c.Args...)
	// A benchmark that is measured in package testing's first call of it has not
	// been given the -test.cpu yet.
	c.Env = append(slices.Clone(c.Env), "GOMAXPROCS="+strconv.Itoa(c.CPU))
	p, err := program.Start(ctx, c)
	var f *program.Failure
	if errors.As(err, &f) && f.Reason == program.EndedWithoutRunning && slices.Contains(strings.Split(f.Output, "\n"), "PASS") {
		f.Reason = "there is no benchmark of that name"
	}
	return p, err
}
