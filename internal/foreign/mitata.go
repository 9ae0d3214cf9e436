package foreign

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// mitata is what `run({ format: 'json' })` of mitata prints, as of version 1.0.34: nanoseconds of
// the wall clock for one call, samples sorted, and of more than twelve the two fastest and the
// two slowest left out of everything.
var mitata = format{
	tool: "mitata",
	is:   func(has func(string) bool) bool { return has("layout") && has("context") && has("benchmarks") },
	read: func(document []byte, run *Run) error {
		var file struct {
			Layout  []struct{ Name *string }
			Context struct {
				Arch, Runtime, Version string
				CPU                    struct{ Name string }
			}
			Benchmarks []struct {
				Alias string
				Group int // of layout
				Runs  []struct {
					Name  string
					Args  map[string]json.RawMessage
					Error *struct{ Message string }
					Stats *struct {
						Samples []float64
						Avg     float64
						Ticks   int
						Heap    *struct{ Avg float64 }
					}
				}
			}
		}
		if err := json.Unmarshal(document, &file); err != nil {
			return err
		}
		run.config("cpu-model", file.Context.CPU.Name)
		run.config("runtime", strings.Join([]string{file.Context.Runtime, file.Context.Version, file.Context.Arch}, " "))
		for _, b := range file.Benchmarks {
			for _, r := range b.Runs {
				text := r.Name
				if b.Group >= 0 && b.Group < len(file.Layout) && file.Layout[b.Group].Name != nil {
					text = *file.Layout[b.Group].Name + "/" + text
				}
				for _, key := range slices.Sorted(maps.Keys(r.Args)) { // a name need not have them
					if !strings.Contains(b.Alias, "$"+key) {
						text += "/" + key + "=" + strings.Trim(string(r.Args[key]), `"`)
					}
				}
				called := name(text)
				s := r.Stats
				if r.Error != nil || s == nil {
					reason := "it has no times"
					if r.Error != nil {
						reason = "failed: " + r.Error.Message
					}
					run.Missing = append(run.Missing, Missing{Name: called, Reason: reason})
					continue
				}
				// A sample may be of many calls.
				n := max(1, s.Ticks/max(1, len(s.Samples)))
				for _, t := range s.Samples {
					run.Results = append(run.Results, Result{called, n, []Value{{t, "ns/op"}}})
				}
				if len(s.Samples) == 0 {
					run.Results = append(run.Results, Result{called, max(1, s.Ticks), []Value{{s.Avg, "ns/op"}}})
					run.note(called, "the file has the mean of %d calls only", s.Ticks)
				}
				run.note(called, "of more than 12 samples mitata drops the 2 fastest and the 2 slowest")
				if s.Heap != nil {
					run.Results = append(run.Results, Result{called, max(1, s.Ticks), []Value{{s.Heap.Avg, "heap-B/op"}}})
				}
			}
		}
		return nil
	},
}
