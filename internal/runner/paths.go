package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
)

// resultsPath is where the results of kind are kept by default: below results/ in the
// module of dir, or in dir if that is in none. of says what they are of: a commit.
func resultsPath(ctx context.Context, dir, machine, kind, of string, now time.Time) string {
	return unused(filepath.Join(moduleRoot(ctx, dir), "results", machine, kind+now.UTC().Format("20060102-150405")+"-"+of+".bench"))
}

// unused returns the path of a results file, with a number in its name if there is one of
// that name already: two runs may begin in the same second.
func unused(path string) string {
	stem := strings.TrimSuffix(path, ".bench")
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = stem + "." + strconv.Itoa(n) + ".bench"
	}
}

// short is a commit in the name of a file.
func short(commit string) string {
	commit = cmp.Or(commit, "nocommit")
	return commit[:min(8, len(commit))]
}

// moduleRoot returns the root of the module that dir is in, relative to the working
// directory if it can be; dir if it is in none.
func moduleRoot(ctx context.Context, dir string) string {
	settings, _ := child.GoEnv(ctx, dir, nil, "go")
	mod := settings["GOMOD"]
	if !filepath.IsAbs(mod) || mod == os.DevNull {
		return dir
	}
	root := filepath.Dir(mod)
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, root); err == nil {
			return rel
		}
	}
	return root
}

const (
	dyno = "github.com/dynolab/dyno"
	// DefaultPackages are those that are measured in dyno's checkout if none are named: a
	// path that means the same in every folder of it.
	DefaultPackages = dyno + "/impls"
)

// InDyno reports whether the working directory is in a checkout of dyno.
func InDyno(ctx context.Context) bool {
	module, _ := child.Says(ctx, ".", nil, "go", "list", "-m")
	return module == dyno
}

// Checkout returns the root of dyno's checkout that the working directory is in, or whose
// module its own replaces dyno by.
func Checkout(ctx context.Context) (string, error) {
	root, err := child.Says(ctx, ".", nil, "go", "list", "-m", "-f", "{{.Dir}}", dyno)
	if err != nil || root == "" {
		return "", errors.New("this is not in a checkout of dyno, nor in a module that uses one")
	}
	return root, nil
}

// packagesOr returns the packages that are named, and else the ones that are meant: dyno's
// own in its checkout, the working directory's elsewhere.
func packagesOr(ctx context.Context, named []string) []string {
	switch {
	case len(named) > 0:
		return named
	case InDyno(ctx):
		return []string{DefaultPackages}
	}
	return []string{"."}
}
