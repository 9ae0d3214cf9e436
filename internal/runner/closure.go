package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/versions"
)

// A closure is what the tests of a package are built of in a repository: the folders of
// its packages, by slashes and relative to the root. It is of all trees that were added.
type closure struct {
	folders map[string]bool // of packages that are built in
	others  map[string]bool // of packages that are not
	embeds  map[string]bool // of folders whose package embeds files
	tested  string          // the folder of the package
	cgo     bool            // C files may lie anywhere
}

func newClosure() *closure {
	return &closure{folders: make(map[string]bool), others: make(map[string]bool), embeds: make(map[string]bool)}
}

// listed is what go list says of a package.
type listed struct {
	Dir                                                  string
	Standard                                             bool
	CgoFiles                                             []string
	EmbedPatterns, TestEmbedPatterns, XTestEmbedPatterns []string
}

// add adds what the package in the folder pkg, relative to t.Dir, is built of in a tree.
func (c *closure) add(ctx context.Context, t *versions.Tree, pkg string) error {
	relative := func(dir string) (string, bool) {
		rel, err := filepath.Rel(t.Root, dir)
		return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
	}
	c.tested, _ = relative(filepath.Join(t.Dir, pkg))
	const wanted = "-json=Dir,Standard,CgoFiles,EmbedPatterns,TestEmbedPatterns,XTestEmbedPatterns"
	err := goList(ctx, t, func(p listed) {
		dir, inside := relative(p.Dir)
		if p.Standard || !inside || p.Dir == "" {
			return
		}
		c.folders[dir] = true
		c.cgo = c.cgo || len(p.CgoFiles) > 0
		c.embeds[dir] = c.embeds[dir] || len(p.EmbedPatterns)+len(p.TestEmbedPatterns)+len(p.XTestEmbedPatterns) > 0
	}, "-deps", "-test", wanted, "--", "./"+filepath.ToSlash(pkg))
	if err != nil {
		return err
	}
	// Any folder with Go files is a package's, of whatever module.
	return filepath.WalkDir(t.Root, func(file string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if dir, inside := relative(filepath.Dir(file)); inside && strings.HasSuffix(file, ".go") && !c.folders[dir] && !e.IsDir() {
			c.others[dir] = true
		}
		if e.IsDir() && (e.Name() == "testdata" || e.Name() == ".git") {
			return filepath.SkipDir
		}
		return nil
	})
}

// goList runs go list in a tree, and calls take with what it says of each package.
func goList(ctx context.Context, t *versions.Tree, take func(listed), args ...string) error {
	said, err := child.Says(ctx, t.Dir, append(os.Environ(), t.Env...), "go", append([]string{"list", "-e"}, args...)...)
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(strings.NewReader(said)); ; {
		var p listed
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		take(p)
	}
}

// touches reports whether a change of a file may change what the benchmark does. What it
// is not sure of it takes for such a change: a build then shows that nothing has.
func (c *closure) touches(file string) bool {
	dir, name := path.Split(file)
	dir = path.Clean(dir)
	switch {
	case name == "go.mod" || name == "go.sum" || name == "go.work" || name == "go.work.sum":
		return c.above(dir)
	case name == "modules.txt" && path.Base(dir) == "vendor":
		return c.above(path.Dir(dir))
	case name == ".gitattributes" || name == ".gitmodules":
		return true
	case c.cgo && slices.Contains([]string{".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc", ".s", ".S", ".m", ".a", ".so"}, path.Ext(name)):
		return true
	case c.folders[dir] && strings.HasSuffix(name, "_test.go"):
		return dir == c.tested
	case c.folders[dir] && !document(file):
		return true
	case strings.HasSuffix(name, ".go") && !strings.Contains("/"+file, "/testdata/"):
		return false // of a package that is none of them
	}
	return c.data(file) || c.embedded(dir)
}

// above reports whether a folder is that of the tested package, or of one in the
// closure, or above one.
func (c *closure) above(dir string) bool {
	for folder := range c.folders {
		if dir == "." || folder == dir || strings.HasPrefix(folder, dir+"/") {
			return true
		}
	}
	return false
}

// data reports whether a file may be read by the tests: it lies in a folder testdata, or
// below the package's folder and in no other package's.
func (c *closure) data(file string) bool {
	return !document(file) && !strings.HasSuffix(file, ".go") && (strings.Contains("/"+file, "/testdata/") || c.owner(path.Dir(file)) == c.tested) ||
		strings.Contains("/"+file, "/testdata/")
}

// embedded reports whether a file in dir may be embedded by a package.
func (c *closure) embedded(dir string) bool { return c.embeds[c.owner(dir)] }

// owner returns the nearest folder, from dir up, that is a package's; "" if there is none.
func (c *closure) owner(dir string) string {
	for ; ; dir = path.Dir(dir) {
		if c.folders[dir] || c.others[dir] {
			return dir
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// document reports whether a file is for people, or for tools around the code.
func document(file string) bool {
	for part := range strings.SplitSeq(file, "/") {
		if strings.HasPrefix(part, ".") {
			return true
		}
	}
	name := path.Base(file)
	return slices.Contains([]string{".md", ".rst", ".adoc"}, path.Ext(name)) || slices.Contains([]string{"LICENSE", "AUTHORS", "CONTRIBUTORS", "CODEOWNERS", "Makefile", "Dockerfile"}, name)
}
