package lint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lostCommits are those that results name and history does not have: they were rewritten
// before they came to the main line. The list does not grow.
var lostCommits = map[string]bool{
	"4c5d860c307eecac87013d64307b6c27b775e68a": true,
}

// TestResultsAppendOnly holds raw results to what is promised of them: whatever history
// has ever had of a file that is kept still stands at its beginning, so that no figure is
// edited; and the commit a file names can be looked up. A file may be removed as a whole,
// when nothing names it any more; history has it.
func TestResultsAppendOnly(t *testing.T) {
	root := filepath.Join("..", "..")
	git := func(stdin string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = root, strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return out
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("this tree is not a git checkout: what results/ had before cannot be known")
	}
	if shallow := git("", "rev-parse", "--is-shallow-repository"); string(shallow) != "false\n" {
		t.Skip("this clone has only a part of history: what results/ had before cannot be known")
	}
	written, err := parseRaw(git("", "log", "--no-renames", "--diff-filter=AM", "--raw", "--no-abbrev", "--format=", "--", "results"))
	if err != nil {
		t.Fatal(err)
	}
	if len(written) == 0 {
		t.Fatal("history has no results at all")
	}
	var ids strings.Builder
	for _, w := range written {
		ids.WriteString(w.blob + "\n")
	}
	blobs := bufio.NewReader(bytes.NewReader(git(ids.String(), "cat-file", "--batch")))
	for _, w := range written {
		once, err := nextBlob(blobs)
		if err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(w.path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := onlyAppended(once, now); err != nil {
			t.Errorf("%s, of which history has version %.8s: %v", w.path, w.blob, err)
		}
	}

	ancestors := map[string]bool{}
	for _, id := range strings.Fields(string(git("", "rev-list", "HEAD"))) {
		ancestors[id] = true
	}
	for path, commit := range namedCommits(t, root) {
		if !ancestors[commit] && !lostCommits[commit] {
			t.Errorf("%s names the commit %s, which history does not have", path, commit)
		}
	}
}

// version is a version of a file with raw results.
type version struct{ path, blob string }

// isRaw reports whether a file has raw results: of benchmarks, or of mutants.
func isRaw(path string) bool {
	return strings.HasSuffix(path, ".bench") || strings.HasSuffix(path, ".mutants")
}

// parseRaw reads what git log --raw says of files with raw results.
func parseRaw(log []byte) (versions []version, err error) {
	for line := range strings.Lines(string(log)) {
		what, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		f := strings.Fields(what) // the modes, the blobs, and what has become of it
		if len(f) != 5 {
			return nil, fmt.Errorf("git log --raw says %q", line)
		}
		if isRaw(path) {
			versions = append(versions, version{path, f[3]})
		}
	}
	return versions, nil
}

// nextBlob reads the next object from what git cat-file --batch prints.
func nextBlob(r *bufio.Reader) ([]byte, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	f := strings.Fields(head) // its name, kind and size
	if len(f) != 3 {
		return nil, fmt.Errorf("git cat-file says %q", head)
	}
	n, err := strconv.Atoi(f[2])
	if err != nil {
		return nil, err
	}
	blob := make([]byte, n+1) // a newline follows
	_, err = io.ReadFull(r, blob)
	return blob[:n], err
}

// onlyAppended says what is wrong with a file that was once so.
func onlyAppended(once, now []byte) error {
	if bytes.HasPrefix(now, once) {
		return nil
	}
	same := 0
	for same < min(len(once), len(now)) && once[same] == now[same] {
		same++
	}
	return fmt.Errorf("raw results are never edited, only added to: line %d is another one", 1+bytes.Count(once[:same], []byte("\n")))
}

// namedCommits returns by path what commit each file of raw results was measured at, if
// that was a commit.
func namedCommits(t *testing.T, root string) map[string]string {
	named := map[string]string{}
	line := regexp.MustCompile(`(?m)^commit: ([0-9a-f]{40})$`)
	err := filepath.WalkDir(filepath.Join(root, "results"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !isRaw(path) {
			return err
		}
		data, err := os.ReadFile(path)
		if m := line.FindSubmatch(data); m != nil {
			named[path] = string(m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// TestResultsAreNamed: what results/ keeps of a machine, a page or a test names, by its path,
// its name without the extension or the folder it is in. What nothing names is removed.
func TestResultsAreNamed(t *testing.T) {
	root := filepath.Join("..", "..")
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	listed, err := cmd.Output()
	if err != nil {
		t.Skip("this tree is not a git checkout: which files are kept cannot be known: ", err)
	}
	var kept []string
	var text strings.Builder
	for path := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		switch {
		case strings.HasPrefix(path, "results/") && strings.Count(path, "/") > 1:
			kept = append(kept, path)
		case path == "internal/compare/testdata/verdicts.txt": // it is made of all that is kept
		default:
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			text.Write(data)
		}
	}
	if len(kept) == 0 {
		t.Fatal("nothing is kept")
	}
	for _, path := range unnamed(kept, text.String()) {
		t.Errorf("%s: no page and no test names it: name it, or remove it", path)
	}
}

// unnamed returns which of the paths below results/ a text does not name.
func unnamed(paths []string, text string) (none []string) {
	for _, path := range paths {
		parts := strings.Split(path, "/") // results, the machine, perhaps the folder of a run, the file
		run := strings.TrimSuffix(parts[2], filepath.Ext(parts[2]))
		if len(parts) > 3 {
			run = parts[2]
		}
		if !strings.Contains(text, path) && !strings.Contains(text, run) {
			none = append(none, path)
		}
	}
	return none
}

func TestUnnamed(t *testing.T) {
	paths := []string{"results/m/20261128-1.bench", "results/m/20261128-1/a.svg", "results/m/bisect-2/ends.bench", "results/m/20261127-3.bench"}
	got := unnamed(paths, "[it](results/m/20261128-1.bench), and all of bisect-2/")
	if !slices.Equal(got, paths[3:]) {
		t.Errorf("not named are %q, want %q", got, paths[3:])
	}
}

func TestOnlyAppended(t *testing.T) {
	for _, c := range []struct {
		name, once, now string
		want            string
	}{
		{name: "as it was", once: "a\nb\n", now: "a\nb\n"},
		{name: "resumed", once: "a\nb\n", now: "a\nb\nc\n"},
		{name: "cut", once: "a\nb\n", now: "a\n", want: "line 2 is another one"},
		{name: "edited", once: "a\nb\n", now: "a\nc\nd\n", want: "line 2 is another one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := onlyAppended([]byte(c.once), []byte(c.now))
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
