package runner

import (
	"debug/buildinfo"
	"fmt"
	"go/version"
	"runtime/debug"
	"slices"
	"strings"
)

// noteGODEBUG notes that the sides' programs run with different GODEBUG settings, because the go
// lines of their go.mod differ, or a toolchain no longer has a setting that the go line asks for. It
// asks a binary of each.
func (v *Versions) noteGODEBUG() {
	var info [2]*debug.BuildInfo
	for i, all := range v.binaries {
		if len(all) == 0 {
			return
		}
		var err error
		if info[i], err = buildinfo.ReadFile(all[0].Path); err != nil {
			return // it is no program of Go
		}
	}
	if differ := differentGODEBUG(info[0], info[1]); len(differ) > 0 {
		v.note("the versions run with different GODEBUG settings, as their go.mod and toolchains have it, which is part of what differs: " + strings.Join(differ, ", "))
	}
}

// mostGODEBUG is how many settings a note names.
const mostGODEBUG = 3

// differentGODEBUG returns the settings that one of two programs has by default and the other has not,
// or has otherwise.
func differentGODEBUG(old, this *debug.BuildInfo) (differ []string) {
	was, is := defaultGODEBUG(old), defaultGODEBUG(this)
	release := func(info *debug.BuildInfo) string {
		name, _, _ := strings.Cut(info.GoVersion, " ") // experiments follow
		return name
	}
	age := version.Compare(release(old), release(this))
	only := func(side string, has, other []string) {
		for _, s := range has {
			if !slices.Contains(other, s) {
				differ = append(differ, side+" has "+s)
			}
		}
	}
	// What only the newer toolchain has keeps what the older one does without being asked.
	if age <= 0 {
		only("old", was, is)
	}
	if age >= 0 {
		only("new", is, was)
	}
	if more := len(differ) - mostGODEBUG; more > 1 {
		differ = append(differ[:mostGODEBUG], fmt.Sprintf("and %d others", more))
	}
	return differ
}

// defaultGODEBUG returns the settings that a program was built to have, as KEY=VALUE.
func defaultGODEBUG(info *debug.BuildInfo) []string {
	for _, s := range info.Settings {
		if s.Key == "DefaultGODEBUG" {
			return strings.Split(s.Value, ",")
		}
	}
	return nil
}
