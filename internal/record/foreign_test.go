package record

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateForeign = flag.Bool("update-foreign", false, "write what files of other tools say; look at each difference")

// What files of other tools say, value by value: each was made by the version of the tool that it
// is named after.
func TestForeignFiles(t *testing.T) {
	files, err := filepath.Glob("../foreign/testdata/*.json")
	if err != nil || len(files) < 6 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := translated(string(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		golden := strings.TrimSuffix(file, "json") + "txt"
		if *updateForeign {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%s, %v: got\n%s\nwant\n%s", file, err, got, want)
		}
		// All of it is read, also by who has it from a Windows machine.
		for _, data := range [][]byte{data, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))} {
			f := Read(file, data)
			results, missing := strings.Count(got, "\nBenchmark"), strings.Count(got, "\n"+HoleMark)+strings.Count(got, "\n"+SkipMark)
			if !strings.Contains(file, "go-test") && (len(f.Results) != results || len(f.Holes) != missing || len(f.Problems) > 0 || f.Empty() != "") {
				t.Errorf("%s: %d results of %d, %d holes of %d, problems %v", file, len(f.Results), results, len(f.Holes), missing, f.Problems)
			}
		}
	}
}

// What is like a file of a tool and is none is said to be none, and what is a file of no known tool
// is read as before.
func TestForeignFaults(t *testing.T) {
	for text, want := range map[string]string{
		`{"context": {}, "benchmarks": [{"name": "a", "real_time": 1, "time_unit": "fortnights"}]}`: `a: its time_unit is "fortnights"`,
		`{"context": {}, "benchmarks": [{"name": 5}]}`:                                              "benchmark 1: ",
		`{"machine_info": {}, "benchmarks": 5}`:                                                     "it looks like a file of pytest-benchmark, and is none: ",
		`{"sampling_mode": "Flat", "iters": [1], "times": [5]}`:                                     "a sample.json has no name",
		`{"full_id": "a"}{"iters": [1], "times": [5, 6]}`:                                           "as many iters as times",
		`[{"name": "a", "state": "errored", "timestampProviderName": 5}, {"name": 5}]`:              "tinybench, and is none",
		`{"files": 5}`: "Vitest, and is none",
		`{"layout": [], "context": {}, "benchmarks": 5}`:         "mitata, and is none",
		`{"results": [{"command": 5}]}`:                          "hyperfine, and is none",
		"{\"Action\":\"output\",\"Output\":\"x\"}\n{\"Action\":": "go test -json, and is none",
	} {
		f := Read("x", []byte(text))
		if len(f.Problems) != 1 || !strings.Contains(f.Problems[0].What, want) || f.Empty() == "" {
			t.Errorf("%s: %+v, want %q", text, f.Problems, want)
		}
	}
	for text, want := range map[string]string{
		`{"results": [{"command": "a -7", "times": []}, {"command": "b", "mean": 0.5, "exit_codes": [0, null]}]}`: "tool: hyperfine\n" +
			"# note: row=\"b\" text=\"1 of 2 runs did not end with status 0 (hyperfine -i)\"\n# note: row=\"b\" text=\"the file has the mean of the runs only\"\n" +
			"# hole: case=Benchmarka_-7-1 reason=\"it has no times\"\nBenchmarkb 1 5e+08 ns/op\nBenchmarkb 1 0 user-ns/op 0 system-ns/op\n",
		`{"machine_info": {"python_version": "3", "cpu": {"brand_raw": "X  Y"}}, "commit_info": {"id": "` + strings.Repeat("a", 40) + `", "dirty": true}, "benchmarks": [{"fullname": "a", "options": {"timer": "time"}, "stats": {}}]}`: "tool: pytest-benchmark\n" +
			"python: 3\ncpu-model: X Y\ncommit: " + strings.Repeat("a", 40) + "\ndirty: true\n# note: row=\"a\" text=\"timed by time\"\n# hole: case=Benchmarka reason=\"it has no times\"\n",
		`{"context": {"cpu_scaling_enabled": true}, "benchmarks": [{"name": "a", "real_time": 2, "cpu_time": 1, "time_unit": "s"}]}`: "tool: Google Benchmark\ncpu-scaling: enabled\nBenchmarka 1 2e+09 ns/op 1e+09 cpu-ns/op\n",
		`[{"name": "a", "state": "errored", "error": {"message": "boom"}, "timestampProviderName": ""}]`:                             "tool: tinybench\n# hole: case=Benchmarka reason=\"errored: boom\"\n",
		`{"layout": [], "context": {}, "benchmarks": [{"group": 5, "alias": "a $k", "runs": [{"name": "a 1", "args": {"k": 1, "m": "x"}}]}]}`: "tool: mitata\n" +
			"# hole: case=Benchmarka_1/m=x reason=\"it has no times\"\n",
		`[{"other": 1}]`: `[{"other": 1}]`, "[": "[", `{"other": 1}`: `{"other": 1}`, "{": "{", "BenchmarkX 1 1 ns/op": "BenchmarkX 1 1 ns/op",
	} {
		if got, err := translated(text); err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", text, err, got, want)
		}
	}
}
