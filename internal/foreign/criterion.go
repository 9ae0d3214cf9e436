package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// criterion is what criterion, of Rust, keeps of a benchmark, as of version 0.3.6: benchmark.json
// with its name and then sample.json, of all benchmarks one after the other. Of each sample that
// has the nanoseconds of the wall clock for all its iterations, and how many these were.
var criterion = format{
	tool: "criterion",
	is: func(has func(string) bool) bool {
		return has("full_id") || has("sampling_mode") || has("median_abs_dev")
	},
	read: func(document []byte, run *Run) error {
		called := ""
		for dec := json.NewDecoder(bytes.NewReader(document)); ; {
			var part struct {
				ID           string `json:"full_id"`
				Iters, Times []float64
			}
			if err := dec.Decode(&part); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			switch {
			case part.ID != "":
				called = name(part.ID)
			case part.Times == nil: // estimates.json, tukey.json
			case called == "":
				return errors.New("a sample.json has no name: benchmark.json has to stand before it")
			case len(part.Iters) != len(part.Times):
				return errors.New("it has as many iters as times, and this one has not")
			default:
				for i, t := range part.Times {
					n := max(1, part.Iters[i])
					run.Results = append(run.Results, Result{called, int(n), []Value{{t / n, "ns/op"}}})
				}
				called = ""
			}
		}
	},
}
