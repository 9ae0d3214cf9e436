package foreign

import (
	"encoding/json"
	"maps"
	"slices"
)

// hyperfine is what `hyperfine --export-json` writes, as of version 1.15.0: seconds of the wall
// clock for each run, without what the shell takes to start, and means of processor time.
var hyperfine = format{
	tool: "hyperfine",
	is:   func(has func(string) bool) bool { return has("results") && !has("benchmarks") },
	read: func(document []byte, run *Run) error {
		var file struct {
			Results []struct {
				Command      string
				Mean         *float64
				User, System float64
				Times        []float64
				ExitCodes    []*int `json:"exit_codes"` // null where a signal is not told
				Parameters   map[string]string
			}
		}
		if err := json.Unmarshal(document, &file); err != nil {
			return err
		}
		for _, r := range file.Results {
			text := r.Command
			for _, key := range slices.Sorted(maps.Keys(r.Parameters)) { // a command need not have them
				text += "/" + key + "=" + r.Parameters[key]
			}
			called := name(text)
			failed := 0
			for _, code := range r.ExitCodes {
				if code == nil || *code != 0 {
					failed++
				}
			}
			if failed > 0 {
				run.note(called, "%d of %d runs did not end with status 0 (hyperfine -i)", failed, len(r.ExitCodes))
			}
			switch {
			case len(r.Times) > 0:
				for _, t := range r.Times {
					run.Results = append(run.Results, Result{called, 1, []Value{{t * 1e9, "ns/op"}}})
				}
			case r.Mean != nil:
				run.Results = append(run.Results, Result{called, 1, []Value{{*r.Mean * 1e9, "ns/op"}}})
				run.note(called, "the file has the mean of the runs only")
			default:
				run.Missing = append(run.Missing, Missing{Name: called, Reason: "it has no times"})
				continue
			}
			run.Results = append(run.Results, Result{called, max(1, len(r.Times)), []Value{{r.User * 1e9, "user-ns/op"}, {r.System * 1e9, "system-ns/op"}}})
		}
		return nil
	},
}
