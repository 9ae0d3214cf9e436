package truth

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The suite has plants enough, each with a sentence, and controls in both ways.
func TestPlants(t *testing.T) {
	plants, err := Plants()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	changes, controls := 0, 0
	for _, p := range plants {
		if slices.Contains(names, p.Name) {
			t.Errorf("%s is not in one place", p.Name)
		}
		names = append(names, p.Name)
		if !strings.HasPrefix(p.Says, p.Name+" ") || !strings.HasSuffix(p.Says, ".") {
			t.Errorf("%s says %q", p.Name, p.Says)
		}
		if slices.Contains(p.Ways, "") || len(p.Ways) > 2 {
			t.Errorf("%s counts in the ways %q", p.Name, p.Ways)
		}
		if strings.HasPrefix(p.Name, "Control") {
			controls++
		} else {
			changes++
		}
	}
	if changes < 10 || controls < 6 {
		t.Errorf("%d changes and %d controls", changes, controls)
	}
}

// The versions differ in one line, and in what follows from it.
func TestLay(t *testing.T) {
	dir := t.TempDir()
	if err := Lay(dir); err != nil {
		t.Fatal(err)
	}
	read := func(version string) map[string]string {
		files := make(map[string]string)
		entries, err := os.ReadDir(filepath.Join(dir, version))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, version, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(data)
		}
		return files
	}
	before, after := read(Old), read(New)
	if len(before) != len(after) || before["go.mod"] == "" {
		t.Errorf("%d files and %d", len(before), len(after))
	}
	for name, text := range before {
		switch same := after[name] == text; {
		case name == changed && (same || after[name] != strings.Replace(text, "planted = 0", "planted = 1", 1)):
			t.Errorf("%s in the new version: %s", name, after[name])
		case name != changed && !same:
			t.Errorf("%s differs", name)
		}
		// What a control does must not depend on the version.
		if name == "control_test.go" && strings.Contains(text, "planted") {
			t.Errorf("%s is not of controls only", name)
		}
	}
	if err := Lay(dir); err == nil {
		t.Error("laid over what was there")
	}
}

// Both versions build from nothing but the standard library, and all benchmarks run
// in both. Counts tell that the plants are planted.
func TestVersionsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	plants, err := Plants()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Lay(dir); err != nil {
		t.Fatal(err)
	}
	allocs := make(map[string]string) // of ExtraAllocN
	for _, version := range []string{Old, New} {
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchtime", "100x", "-benchmem")
		cmd.Dir = filepath.Join(dir, version)
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", version, err, out)
		}
		ran := make(map[string]bool)
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			if len(fields) < 8 || !strings.HasPrefix(line, "Benchmark") {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(fields[0], "Benchmark"), "-")
			name, _, _ = strings.Cut(name, "/")
			ran[name] = true
			if name == "ExtraAllocN" {
				allocs[version] = fields[6]
			}
		}
		for _, p := range plants {
			for _, way := range p.Ways {
				if !ran[p.Name+way] {
					t.Errorf("%s did not run in %s:\n%s", p.Name+way, version, out)
				}
			}
		}
	}
	if allocs[Old] != "0" || allocs[New] != "1" {
		t.Errorf("allocations of ExtraAllocN: %v", allocs)
	}
}
