package testbin

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/cache"

	"github.com/dynolab/dyno/internal/program"
)

// A BuildCache keeps test binaries from one Build to the next. The go command
// keeps what it compiles, but links anew each time, and that is most of the work
// where a package is linked in many layouts, or its commit was built before.
//
// It is the go command's own kind of cache: several processes may use it, what is
// damaged is not used, and what was not used for five days is removed, once a day.
// So is what was used longest ago if the whole is larger than cacheSize.
type BuildCache struct {
	c   *cache.Cache
	dir string
}

// cacheSize bounds a build cache, in bytes: a hundred layouts or more of a few
// packages, and little beside the go command's cache.
const cacheSize = 2 << 30

// OpenBuildCache opens the cache in the folder dir, which it makes if need be.
func OpenBuildCache(dir string) (*BuildCache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	c, err := cache.Open(dir)
	if err != nil {
		return nil, err
	}
	return &BuildCache{c, dir}, nil
}

// Trim removes what was not used for long. It is for when the work is done.
func (b *BuildCache) Trim() error {
	return errors.Join(b.c.Trim(), b.bound(cacheSize))
}

// bound removes what was used longest ago until the cache's binaries are no
// larger than size together.
func (b *BuildCache) bound(size int64) error {
	type file struct {
		path string
		size int64
		used time.Time // the cache sets it, an hour at a time
	}
	var files []file
	total := int64(0)
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "-d") || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process trims
		}
		if err != nil {
			return err
		}
		files = append(files, file{path, info.Size(), info.ModTime()})
		total += info.Size()
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= size {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= f.size
	}
	return err
}

// cacheKey is the key of what is described by parts.
func cacheKey(parts ...string) cache.ActionID {
	h := cache.NewHash("benchrun test binary")
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return h.Sum()
}

// get copies the binary that is kept under key to path, and returns its hash; ""
// if there is none, or it is not what was kept. It is no link: what is executed must not
// change if the cache is trimmed.
func (b *BuildCache) get(key cache.ActionID, path string) string {
	data, entry, err := b.c.GetBytes(key)
	if err != nil {
		return ""
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		_ = os.Remove(path)
		return ""
	}
	return hex.EncodeToString(entry.OutputID[:])
}

// put keeps the binary at path under key. That it cannot, on a full disk, is no
// reason not to measure.
func (b *BuildCache) put(key cache.ActionID, path string) {
	if f, err := os.Open(path); err == nil {
		_, _, _ = b.c.Put(key, f)
		_ = f.Close()
	}
}

// key returns the key of a test binary of pkg, built with flags, and whether it
// can be known: that of a layout follows from base, the hash of the same program
// with the linker's own order, and that one's, without a base, from its sources.
func (b *builder) key(pkg, base string, flags []string) (cache.ActionID, bool) {
	switch {
	case b.options.Cache == nil:
	case base != "":
		return cacheKey(append([]string{"layout", base}, flags...)...), true
	case b.sources != "":
		return cacheKey(append([]string{"sources", b.sources, pkg}, flags...)...), true
	}
	return cache.ActionID{}, false
}

// lastKey is the key of the test binary of pkg that was built last: of the builder's folder, or,
// where paths are trimmed, of any.
func (b *builder) lastKey(pkg string) cache.ActionID {
	dir := ""
	if !strings.Contains(b.settings["GOFLAGS"], "-trimpath") {
		dir = b.abs(".")
	}
	return cacheKey("last", dir, pkg, strconv.FormatBool(b.overlay != ""))
}

// describe says everything that decides what is compiled, "" if that cannot be
// known. As with the go command's own cache, what is outside of Go, such as the
// libraries that C code is linked with, is not part of it.
func (b *builder) describe() string {
	if b.options.Cache == nil || b.options.Source == "" {
		return ""
	}
	settings := maps.Clone(b.settings)
	profile := flagIn(settings["GOFLAGS"], "-pgo")
	if filepath.IsAbs(profile) {
		var err error
		if profile, err = program.HashFile(profile); err != nil {
			return ""
		}
	} else if !slices.Contains([]string{"", "auto", "off"}, profile) {
		return "" // it is relative to the folder of the build
	}
	for _, flag := range []string{"-overlay", "-modfile", "-toolexec"} {
		if strings.Contains(settings["GOFLAGS"], flag) {
			return "" // it brings in what lies elsewhere
		}
	}
	if !strings.Contains(settings["GOFLAGS"], "-trimpath") {
		return "" // the programs know in which folder they were built
	}
	// Paths tell where things are built, not what; the others may matter.
	maps.DeleteFunc(settings, func(key, value string) bool {
		return slices.Contains([]string{"GOMOD", "GOWORK", "GOGCCFLAGS", "PKG_CONFIG", "GOTELEMETRY"}, key) || filepath.IsAbs(value) && key != "GOROOT"
	})
	text, err := json.Marshal(settings) // sorted by key
	if err != nil {
		return ""
	}
	overlay, err := b.overlayText()
	if err != nil {
		return ""
	}
	return strings.Join([]string{b.options.Source, string(text), overlay, profile}, "\n")
}

// overlayText describes the overlay: of each file, what takes its place.
func (b *builder) overlayText() (string, error) {
	if b.overlay == "" {
		return "", nil
	}
	data, err := os.ReadFile(b.overlay)
	if err != nil {
		return "", err
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(data, &o); err != nil {
		return "", err
	}
	for file, by := range o.Replace {
		if o.Replace[file], err = program.HashFile(by); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(o)
	return string(text), err
}
