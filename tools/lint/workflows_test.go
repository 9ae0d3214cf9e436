package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWorkflows: an action is named by its digest, since a tag can be moved; and a job that runs
// a pull request's code has no token that may write, neither in ours nor in those to copy.
func TestWorkflows(t *testing.T) {
	root := "../.."
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	toCopy, err := filepath.Glob(filepath.Join(root, "docs/ci/*.yml"))
	if err != nil || len(toCopy) != 2 {
		t.Fatalf("%d workflows to copy, %v", len(toCopy), err)
	}
	texts := map[string]string{}
	for _, path := range append(files, toCopy...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(data)
	}
	uses := regexp.MustCompile(`(?m)^\s*-? *uses: *(.*)$`)
	digest := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v[0-9.]+$`)
	for name, text := range texts {
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if !digest.MatchString(m[1]) {
				t.Errorf("%s: %q is no digest with its version behind it", name, m[1])
			}
		}
		writes := regexp.MustCompile(`(?m)^\s*[\w-]+: write`).MatchString(text)
		runs := strings.Contains(text, "pull_request:") || strings.Contains(text, "on: pull_request") || strings.Contains(text, "checkout@")
		if writes && runs || strings.Contains(text, "pull_request_target") || !strings.Contains(text, "permissions:") {
			t.Errorf("%s: what runs a pull request's code has a token that may write", name)
		}
	}
}
