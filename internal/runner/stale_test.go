package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitsSince: what targets are promised of, and nothing else, makes results stale.
func TestCommitsSince(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(file string) string {
		t.Helper()
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "-q", "-m", file)
		return git("rev-parse", "HEAD")
	}
	git("init", "-q")
	first := commit("README.md")
	for _, file := range []string{"docs/boards.md", "impls/serial/box_test.go", "cmd/benchrun/main.go", "actor/remote/node.go", "impls/MISSES.md"} {
		commit(file)
	}
	if n := CommitsSince(t.Context(), filepath.Join(dir, "docs"), first); n != 0 {
		t.Errorf("%d commits of what nothing is promised of", n)
	}
	all := []string{"actor/cell.go", "actor/mailbox/queue.go", "group/group.go", "task/task.go", "internal/queue/queue.go", "impls/impls.go", "impls/serial/box.go"}
	for i, file := range all {
		commit(file)
		if n := CommitsSince(t.Context(), filepath.Join(dir, "docs"), first); n != i+1 {
			t.Errorf("%d commits with that of %s, want %d", n, file, i+1)
		}
	}
	for name, commit := range map[string]string{"the newest": "HEAD", "none": "", "unknown": "6fcb4ec16fcb4ec16fcb4ec16fcb4ec16fcb4ec1"} {
		if n := CommitsSince(t.Context(), dir, commit); n != 0 {
			t.Errorf("%s: %d commits", name, n)
		}
	}
}
