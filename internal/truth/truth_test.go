package truth

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			if len(fields) > 6 && strings.HasPrefix(fields[0], "BenchmarkExtraAllocN") {
				allocs[version] = fields[6]
			}
		}
	}
	if allocs[Old] != "0" || allocs[New] != "1" {
		t.Errorf("allocations of ExtraAllocN: %v", allocs)
	}
}
