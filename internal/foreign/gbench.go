package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// googleBenchmark is what `--benchmark_format=json` of Google Benchmark writes, as of version
// 1.7.1: of each repetition the mean of its iterations, on the wall clock and of the processor.
// Of several threads both are divided by the iterations of all.
var googleBenchmark = format{
	tool: "Google Benchmark",
	is:   func(has func(string) bool) bool { return has("context") && has("benchmarks") },
	read: func(document []byte, run *Run) error {
		var file struct {
			Context struct {
				Executable string
				Build      string `json:"library_build_type"`
				Scaling    bool   `json:"cpu_scaling_enabled"`
			}
			Benchmarks []map[string]json.RawMessage
		}
		if err := json.Unmarshal(document, &file); err != nil {
			return err
		}
		run.config("executable", file.Context.Executable)
		run.config("library-build", file.Context.Build)
		if file.Context.Scaling {
			run.config("cpu-scaling", "enabled")
		}
		rows := make([]gbenchRow, len(file.Benchmarks))
		single := make(map[string]bool) // the repetitions themselves are there
		for i, fields := range file.Benchmarks {
			if err := rows[i].read(fields); err != nil {
				return fmt.Errorf("benchmark %d: %w", i+1, err)
			}
			if rows[i].Type != "aggregate" {
				single[rows[i].RunName] = true
			}
		}
		for _, r := range rows {
			if err := r.add(run, single[r.RunName]); err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
		}
		return nil
	},
}

// A gbenchRow is one of its benchmarks, a repetition or an aggregate.
type gbenchRow struct {
	Name       string
	RunName    string `json:"run_name"`
	Type       string `json:"run_type"`
	Aggregate  string `json:"aggregate_name"`
	Threads    int
	Iterations float64
	Real       float64 `json:"real_time"`
	CPU        float64 `json:"cpu_time"`
	Unit       string  `json:"time_unit"`
	Failed     bool    `json:"error_occurred"`
	Why        string  `json:"error_message"`

	counters []Value
}

// gbenchOwn are the numbers of a row that are no counter of the benchmark's.
var gbenchOwn = []string{
	"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations", "real_time", "cpu_time",
	"cpu_coefficient", "real_coefficient", "rms",
}

func (r *gbenchRow) read(fields map[string]json.RawMessage) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, r); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if v, err := strconv.ParseFloat(string(fields[key]), 64); err == nil && !slices.Contains(gbenchOwn, key) {
			r.counters = append(r.counters, Value{v, name(key)})
		}
	}
	if r.RunName == "" {
		r.RunName = r.Name
	}
	return nil
}

// add adds the row to run. Of aggregates it is the mean, and only where repetitions are not
// there: their other values are no times of the benchmark, and those of a fit are none at all.
func (r *gbenchRow) add(run *Run, single bool) error {
	called := name(r.RunName)
	switch {
	case r.Failed:
		run.Missing = append(run.Missing, Missing{Name: called, Reason: "failed: " + r.Why})
		return nil
	case r.Type == "aggregate" && (single || r.Aggregate != "mean"):
		return nil
	case r.Type == "aggregate":
		run.note(called, "the file has the mean of %.0f repetitions only", r.Iterations)
	}
	nanoseconds, ok := map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[r.Unit]
	if !ok {
		return fmt.Errorf("its time_unit is %q", r.Unit)
	}
	if r.Threads > 1 {
		run.note(called, "%d threads: the time is that of the wall clock divided by the iterations of all", r.Threads)
	}
	values := []Value{{r.Real * nanoseconds, "ns/op"}, {r.CPU * nanoseconds, "cpu-ns/op"}}
	run.Results = append(run.Results, Result{called, max(1, int(r.Iterations)), append(values, r.counters...)})
	return nil
}
