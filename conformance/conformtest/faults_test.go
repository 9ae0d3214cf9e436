package conformtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/conform"
)

// faultsEnv names a file to which TestFaults appends the lines of internal/conform/faults.txt. Some
// bugs end the process: run it for one after the other, as -run 'TestFaults/^limit ignored$'.
const faultsEnv = "DYNO_FAULTS"

// TestFaults runs all clauses on wrong implementations, and demands that of those that fail the
// one is named that is there for the bug: of a few by day.
func TestFaults(t *testing.T) {
	byDay := []bug{"limit ignored", "Cancel ignored", "first option wins", "Close drops queued results", "Wait does not wait"}
	for _, k := range wrongKinds[:2] {
		for _, w := range k.bugs {
			if !nightly && os.Getenv(faultsEnv) == "" && !slices.Contains(byDay, w.bug) {
				continue
			}
			t.Run(string(w.bug), func(t *testing.T) {
				set, _ := testSettings(t)
				s := &suite{impl: k.impl(w.bug), set: set, limit: 2 * time.Second, terse: true}
				wanted := strings.Fields(w.clauses)
				var failed []string
				for _, c := range k.clauses() {
					slow := strings.Contains(c.Name, "goroutine") || c.On.Heap
					if c.Skip(s.env(0)) != "" || slow && !slices.Contains(wanted, strings.TrimPrefix(c.Name, k.contract+"/")) {
						continue
					}
					if s.try(t, c.Check, 1) != nil {
						failed = append(failed, c.Name)
					}
				}
				if got := strings.TrimPrefix(conform.LookFirst(failed), k.contract+"/"); !slices.Contains(wanted, got) {
					t.Errorf("of %d clauses that fail %s is named, want one of %s", len(failed), got, w.clauses)
				}
				if path := os.Getenv(faultsEnv); path != "" {
					i := slices.IndexFunc(wanted, func(name string) bool { return slices.Contains(failed, k.contract+"/"+name) })
					if i < 0 {
						t.Fatalf("none of %s fails", w.clauses)
					}
					first := k.contract + "/" + wanted[i]
					line := k.contract + " " + wanted[i] + ":"
					for _, name := range failed {
						if name != first {
							line += " " + strings.TrimPrefix(name, k.contract+"/")
						}
					}
					f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					fmt.Fprintln(f, line)
				}
			})
		}
	}
}
