package foreign

import (
	"encoding/json"
	"strings"
)

// A tinybenchTask is what tinybench says of a task, in milliseconds of the wall clock: version 6
// under latency, version 2, which Vitest has, beside the name.
type tinybenchTask struct {
	Name    string
	State   string
	Error   *struct{ Message string } // without a message: JSON has none of an Error
	Runtime string
	Version string `json:"runtimeVersion"`
	Latency *tinybenchTimes
	tinybenchTimes
}

type tinybenchTimes struct {
	Mean    *float64
	Count   int `json:"sampleCount"`
	Count6  int `json:"samplesCount"`
	Samples []float64
}

// add adds the task to run, its name behind those of its groups.
func (t *tinybenchTask) add(run *Run, groups string) {
	called := name(groups + t.Name)
	times := t.tinybenchTimes
	if t.Latency != nil {
		times = *t.Latency
	}
	switch {
	case len(times.Samples) > 0:
		for _, v := range times.Samples {
			run.Results = append(run.Results, Result{called, 1, []Value{{v * 1e6, "ns/op"}}})
		}
	case times.Mean != nil:
		n := max(1, times.Count, times.Count6)
		run.Results = append(run.Results, Result{called, n, []Value{{*times.Mean * 1e6, "ns/op"}}})
		run.note(called, "the file has the mean of %d calls only", n)
	default:
		reason := "it has no times"
		if t.State != "" {
			reason = t.State
		}
		if t.Error != nil && t.Error.Message != "" {
			reason += ": " + t.Error.Message
		}
		run.Missing = append(run.Missing, Missing{Name: called, Reason: reason})
	}
}

// tinybench is a list of tasks, as of version 6.2.5. It writes no file, and its tasks have no JSON:
// JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, ...result }))) does.
var tinybench = format{
	tool: "tinybench",
	list: true,
	is:   func(has func(string) bool) bool { return has("name") && has("state") && has("timestampProviderName") },
	read: func(document []byte, run *Run) error {
		var tasks []tinybenchTask
		if err := json.Unmarshal(document, &tasks); err != nil {
			return err
		}
		for i, t := range tasks {
			if i == 0 {
				run.config("runtime", t.Runtime+" "+t.Version)
			}
			t.add(run, "")
		}
		return nil
	},
}

// vitest is what `vitest bench --outputJson` writes, as of version 4.1.12, with tinybench 2.9.0.
var vitest = format{
	tool: "Vitest",
	is:   func(has func(string) bool) bool { return has("files") },
	read: func(document []byte, run *Run) error {
		var file struct {
			Files []struct {
				Groups []struct {
					Name       string `json:"fullName"`
					Benchmarks []tinybenchTask
				}
			}
		}
		if err := json.Unmarshal(document, &file); err != nil {
			return err
		}
		for _, f := range file.Files {
			for _, g := range f.Groups {
				for _, b := range g.Benchmarks {
					b.add(run, strings.ReplaceAll(g.Name, " > ", "/")+"/")
				}
			}
		}
		return nil
	},
}
