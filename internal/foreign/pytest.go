package foreign

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// pytestBenchmark is what `--benchmark-json` and `--benchmark-save` of pytest-benchmark write, as
// of version 3.2.2: of each round the seconds for one call. Saved files have no rounds.
var pytestBenchmark = format{
	tool: "pytest-benchmark",
	is:   func(has func(string) bool) bool { return has("machine_info") && has("benchmarks") },
	read: func(document []byte, run *Run) error {
		var file struct {
			Machine struct {
				Python  string `json:"python_version"`
				Kind    string `json:"python_implementation"`
				Release string
				System  string
				CPU     json.RawMessage // in some versions a text, or nothing
			} `json:"machine_info"`
			Commit struct {
				ID    string
				Dirty bool
			} `json:"commit_info"`
			Benchmarks []struct {
				Name, Fullname string
				Options        struct {
					Timer     string
					DisableGC bool `json:"disable_gc"`
				}
				Stats struct {
					Mean       *float64
					Rounds     int
					Iterations int
					Data       []float64
				}
			}
		}
		if err := json.Unmarshal(document, &file); err != nil {
			return err
		}
		var cpu struct {
			Brand    string
			BrandRaw string `json:"brand_raw"` // since version 3.4
		}
		_ = json.Unmarshal(file.Machine.CPU, &cpu)
		run.config("python", file.Machine.Kind+" "+file.Machine.Python)
		run.config("cpu-model", cpu.Brand+cpu.BrandRaw)
		run.config("kernel", strings.ToLower(file.Machine.System)+" "+file.Machine.Release)
		if isCommit.MatchString(file.Commit.ID) { // else it says why it is none
			run.config("commit", file.Commit.ID)
			run.config("dirty", strconv.FormatBool(file.Commit.Dirty))
		}
		for _, b := range file.Benchmarks {
			// The folder of a test is that of its name: two files may have one.
			called := name(strings.ReplaceAll(b.Fullname, "::", "/"))
			n := max(1, b.Stats.Iterations)
			unit := "ns/op"
			switch b.Options.Timer {
			case "", "perf_counter":
			case "process_time":
				unit = "cpu-ns/op"
			default:
				run.note(called, "timed by %s", b.Options.Timer)
			}
			if b.Options.DisableGC {
				run.note(called, "measured without Python's garbage collection")
			}
			switch {
			case len(b.Stats.Data) > 0:
				for _, t := range b.Stats.Data {
					run.Results = append(run.Results, Result{called, n, []Value{{t * 1e9, unit}}})
				}
			case b.Stats.Mean != nil:
				run.Results = append(run.Results, Result{called, n * max(1, b.Stats.Rounds), []Value{{*b.Stats.Mean * 1e9, unit}}})
				run.note(called, "the file has the mean of %d rounds only", b.Stats.Rounds)
			default:
				run.Missing = append(run.Missing, Missing{Name: called, Reason: "it has no times"})
			}
		}
		return nil
	},
}

var isCommit = regexp.MustCompile(`^[0-9a-f]{40}$`)
