package lint

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestArchitectureNamesAll: docs/architecture.md says of each package what it is, and names it
// by its path between backquotes, or by that of its folder and /*.
func TestArchitectureNamesAll(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	if len(all) < 50 {
		t.Fatalf("only %d packages: %q", len(all), all)
	}
	for _, name := range unexplained(string(page), all) {
		t.Errorf("docs/architecture.md does not say what %s is", name)
	}
}

// unexplained returns which packages, by their import paths, a page does not name.
func unexplained(page string, all []string) (none []string) {
	for _, name := range all {
		local := strings.TrimPrefix(strings.TrimPrefix(name, "github.com/dynolab/dyno"), "/")
		if local == "" {
			local = "dyno"
		}
		if !strings.Contains(page, "`"+local+"`") && !strings.Contains(page, "`"+path.Dir(local)+"/*`") {
			none = append(none, local)
		}
	}
	return none
}

func TestUnexplained(t *testing.T) {
	const ours = "github.com/dynolab/dyno"
	got := unexplained("`dyno` is the root, `impls/*` are many, `task` is one", []string{ours, ours + "/impls/a", ours + "/impls", ours + "/task", ours + "/tas"})
	if strings.Join(got, " ") != "impls tas" {
		t.Errorf("not named are %q", got)
	}
}
