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
	texts := map[string]string{}
	for _, path := range append(files, filepath.Join(root, "docs/ci.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		if filepath.Ext(path) == ".yml" {
			texts[name] = string(data)
			continue
		}
		for i, part := range strings.Split(string(data), "```yaml\n")[1:] {
			text, _, _ := strings.Cut(part, "```")
			texts[name+" "+string(rune('1'+i))] = text
		}
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
	if len(texts) < len(files)+2 {
		t.Errorf("%d workflows are looked at, of %d and two to copy", len(texts), len(files))
	}
}
