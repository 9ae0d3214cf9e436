package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/record"
)

// Against has c count what the results file at path has counts of, in as many blocks, as far as c
// says nothing else: counts of one architecture, toolchain and tool are compared whenever and
// wherever they were made. It is an error if these are others here.
func (c *Config) Against(ctx context.Context, path string) error {
	from, err := record.ReadInterrupted(path)
	if err != nil {
		return err
	}
	if from.Plan.Counter == "" || ComparesVersions(from) {
		return fmt.Errorf("%s is no baseline of counts: benchrun run --count --out FILE makes one", path)
	}
	tool, err := counter.Find(ctx)
	if err != nil {
		return err
	}
	here := append(c.Build.describe(ctx, "."), record.Setting{Key: record.CounterKey, Values: []string{tool.String()}})
	for _, key := range []string{"toolchain", record.CounterKey, "goexperiment", "goamd64", "goarm64"} {
		is := ""
		if i := slices.IndexFunc(here, func(s record.Setting) bool { return s.Key == key }); i >= 0 {
			is = here[i].Values[0]
		}
		if was := from.Config[key]; was != is {
			return fmt.Errorf("%s was counted with %s, and here is %s: counts of these are not compared; count the baseline again", path, said(key, was), said(key, is))
		}
	}
	if len(c.Packages) == 0 {
		c.Packages = from.Plan.Packages
	}
	if !c.given("bench") {
		c.Bench = from.Plan.Bench
	}
	was := *c
	given := was.given // which does not change when c does
	if !given("blocks") {
		c.Blocks = from.Plan.Blocks
	}
	if !given("cpu") {
		c.CPU = from.Plan.CPU
	}
	c.Given = func(flag string) bool { return flag == "blocks" || flag == "cpu" || given(flag) }
	return nil
}

// said is a setting of the build in words.
func said(key, value string) string {
	switch {
	case value == "":
		return "no " + strings.ToUpper(key)
	case strings.HasPrefix(key, "go"):
		return strings.ToUpper(key) + "=" + value
	}
	return strings.TrimPrefix(value, "go version ")
}
