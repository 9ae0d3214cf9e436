package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// goTest is what `go test -json` writes: an event a line, and in some a piece of what a package
// printed. The results are in there, cut into pieces, and the packages between each other.
var goTest = format{
	tool: "go test -json",
	is:   func(has func(string) bool) bool { return has("Action") },
	read: func(document []byte, run *Run) error {
		var packages []string
		printed := make(map[string]*strings.Builder)
		for dec := json.NewDecoder(bytes.NewReader(document)); ; {
			var event struct{ Action, Package, Test, Output string }
			if err := dec.Decode(&event); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			missing := Missing{Pkg: event.Package, Name: strings.TrimPrefix(event.Test, "Benchmark"), Reason: "failed", Skipped: event.Action == "skip"}
			if missing.Skipped {
				missing.Reason = "it skips itself"
			}
			switch event.Action { // what the compiler prints is "build-output"
			case "fail", "skip": // of a benchmark that gives a result there is none
				if strings.HasPrefix(event.Test, "Benchmark") && !slices.Contains(run.Missing, missing) {
					run.Missing = append(run.Missing, missing)
				}
				continue
			case "output":
			default:
				continue
			}
			text := printed[event.Package]
			if text == nil {
				text = new(strings.Builder)
				printed[event.Package] = text
				packages = append(packages, event.Package)
			}
			text.WriteString(event.Output)
		}
		for _, pkg := range packages {
			run.Text += printed[pkg].String()
			if !strings.HasSuffix(run.Text, "\n") {
				run.Text += "\n"
			}
		}
		return nil
	},
}
