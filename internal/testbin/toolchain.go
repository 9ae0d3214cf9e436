package testbin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/program"
)

// Since Go 1.25 the go command lets no overlay replace files beneath GOMODCACHE, and there
// lies each toolchain that it has fetched because a go.mod or GOTOOLCHAIN asks for it. It
// compares paths as they are written. So such a toolchain is used by a symbolic link from
// elsewhere. Nothing is copied, and with -trimpath builds are the same to the byte. Without it
// they have GOROOT in them, so the link has to be the same one the next time, too.

// leaveModuleCache has the builder use a toolchain that lies in the module cache by a link.
// The error wraps [program.ErrUnsupported] if that is not possible.
func (b *builder) leaveModuleCache(ctx context.Context) error {
	root, cache := b.settings["GOROOT"], b.settings["GOMODCACHE"]
	if !beneath(root, cache) {
		return nil
	}
	link, err := linkElsewhere(root, cache)
	if err != nil {
		return fmt.Errorf("%w: %s lies in the module cache, where an overlay replaces nothing, and no link leads to it from elsewhere: %w", program.ErrUnsupported, root, err)
	}
	launched := b.settings
	b.goTool = filepath.Join(link, "bin", "go")
	b.options.Env = append(slices.Clip(b.options.Env), "GOROOT="+link, "GOTOOLCHAIN=local")
	if err := b.readSettings(ctx); err != nil {
		return err
	}
	// The go command that was used so far may be a launcher, with settings of its own.
	env := b.options.Env
	for key, value := range launched {
		if b.settings[key] != value && !slices.Contains([]string{"GOROOT", "GOTOOLCHAIN", "GOTOOLDIR", "GOGCCFLAGS"}, key) {
			env = append(env, key+"="+value)
		}
	}
	if len(env) == len(b.options.Env) {
		return nil
	}
	b.options.Env = env
	return b.readSettings(ctx)
}

// beneath reports whether path lies in the folder dir, as both are written.
func beneath(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// linkElsewhere returns a symbolic link to root that is not beneath cache: always the same one
// where the user has a cache folder. Several processes may make it at the same time.
func linkElsewhere(root, cache string) (link string, err error) {
	sum := sha256.Sum256([]byte(root))
	name := strings.TrimPrefix(filepath.Base(root), "toolchain@") + "-" + hex.EncodeToString(sum[:4])
	user, err := os.UserCacheDir()
	for _, folder := range []string{filepath.Join(user, "benchrun", "toolchains"), filepath.Join(os.TempDir(), fmt.Sprintf("benchrun-toolchains-%d", os.Getuid()))} {
		if !filepath.IsAbs(folder) || beneath(folder, cache) {
			err = errors.Join(err, fmt.Errorf("%s is no place for it", folder))
			continue
		}
		link = filepath.Join(folder, name)
		if to, readErr := os.Readlink(link); readErr == nil && to == root {
			return link, nil
		}
		linkErr := os.MkdirAll(folder, 0o700)
		if linkErr == nil {
			removeDangling(folder)
			linkErr = replaceLink(root, link)
		}
		if linkErr == nil {
			return link, nil
		}
		err = errors.Join(err, linkErr)
	}
	return "", err
}

// replaceLink makes link lead to root, whatever it was: any reader finds it whole.
func replaceLink(root, link string) error {
	temp, err := os.MkdirTemp(filepath.Dir(link), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Symlink(root, filepath.Join(temp, "link")); err != nil {
		return err
	}
	return os.Rename(filepath.Join(temp, "link"), link)
}

// removeDangling removes the links in a folder whose toolchains are there no more.
func removeDangling(folder string) {
	all, _ := os.ReadDir(folder)
	for _, e := range all {
		path := filepath.Join(folder, e.Name())
		if _, err := os.Stat(path); e.Type()&fs.ModeSymlink != 0 && errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(path) // it may be gone by now, and does no harm
		}
	}
}

// notApplied returns why the binary at path, which was built with the builder's overlay, cannot be driven: nil
// if it can. A go command may take an overlay for another GOROOT than the one it compiles.
func (b *builder) notApplied(path string) (why, err error) {
	if b.overlay == "" {
		return nil, nil
	}
	if why, err = undrivable(path); why == nil {
		return nil, err
	}
	return fmt.Errorf("%w: go test -c has taken the overlay for %s and has not applied it, as where the go command is a launcher that sets another GOROOT; with the bin folder of a Go first in PATH it works",
		program.ErrUnsupported, b.settings["GOROOT"]), nil
}
