package record

import (
	"cmp"
	"strings"
)

// A Setting is a configuration key with all the values it takes in one file,
// in order of appearance.
type Setting struct {
	Key    string
	Values []string
}

// Settings gather settings.
type Settings struct {
	List []Setting
	at   map[string]int // index of a key
	has  map[[2]string]bool
}

// Add adds a value, if it is not empty.
func (s *Settings) Add(key, value string) {
	if value == "" || s.has[[2]string{key, value}] {
		return
	}
	if s.at == nil {
		s.at, s.has = make(map[string]int), make(map[[2]string]bool)
	}
	i, ok := s.at[key]
	if !ok {
		key = strings.Clone(key) // a part of a file would keep all of that
		i, s.at[key] = len(s.List), len(s.List)
		s.List = append(s.List, Setting{Key: key})
	}
	key, value = s.List[i].Key, strings.Clone(value)
	s.List[i].Values, s.has[[2]string{key, value}] = append(s.List[i].Values, value), true
}

// Circumstances are what a reader needs to interpret a figure, as configuration
// lines of the Go benchmark format. FORMAT.md explains the keys.
type Circumstances struct {
	// Machine is a name for machines of this kind, fit for a folder: CPU model,
	// cores and platform.
	Machine string
	// Fixed settings stay the same for a run, and must be the same when it is
	// resumed.
	Fixed []Setting
}

// Value returns the value of the fixed setting key, "" if there is none.
func (c *Circumstances) Value(key string) string {
	for _, s := range c.Fixed {
		if s.Key == key && len(s.Values) > 0 {
			return s.Values[0]
		}
	}
	return ""
}

// MadePrefix begins the key under which a program that speaks the driving protocol tells with
// which versions and flags it was made: "made-" and the name of its file.
const MadePrefix = "made-"

// Environment lists the variables that change how a Go program is built or
// runs. They are noted if they are set, in the environment or by go env -w.
var Environment = []string{"GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS", "CGO_ENABLED"}

// Built returns the keys of how something is built, and of what it runs in: of two versions
// that differ there, each has its own; see [OfSide].
func Built() []string {
	keys := []string{"toolchain", "go", "tags", "pgo"}
	for _, name := range Environment {
		keys = append(keys, strings.ToLower(name))
	}
	return keys
}

// OfSide returns the key under which something is noted of one of two sides.
func OfSide(side, key string) string { return side + "-" + key }

// Differences says in which respects now differs from then, configuration lines
// of an earlier run, one line each, as "key: then → now". The clock rate is left
// out: some systems tell what it is at the moment.
func (now *Circumstances) Differences(then map[string]string) []string {
	keys := []string{
		"old", "old-commit", "old-dirty", "new", "new-commit", "new-dirty", "build",
		"commit", "dirty", "machine", "cpu-model", "cores", "cpu-quota", "memory", "kernel", "virtual", "governor", "emulated",
	}
	for _, key := range Built() {
		keys = append(keys, key, OfSide(SideOld, key), OfSide(SideNew, key))
	}
	var diffs []string
	for _, key := range keys {
		if a, b := then[key], now.Value(key); a != b {
			diffs = append(diffs, key+": "+cmp.Or(a, "none")+" → "+cmp.Or(b, "none"))
		}
	}
	return diffs
}
