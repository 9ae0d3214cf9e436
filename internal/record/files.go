package record

import "strings"

// Files are what Plan.Packages has beside packages: programs that are there already. In
// the plan each has a mark in front, which no import path can have.
type Files struct {
	Binaries []string // test binaries, as binary:x.test
	Programs []string // programs that speak the driving protocol, as program:./bench-c
	Dir      string   // the folder in which all of them run, as dir:folder; "" if each runs where it lies
}

const (
	binaryMark  = "binary:"
	programMark = "program:"
	dirMark     = "dir:"
)

// SplitFiles takes apart what stands in Plan.Packages: packages, and files.
func SplitFiles(all []string) (packages []string, f Files) {
	for _, s := range all {
		mark, path, _ := strings.Cut(s, ":")
		switch mark + ":" {
		case binaryMark:
			f.Binaries = append(f.Binaries, path)
		case programMark:
			f.Programs = append(f.Programs, path)
		case dirMark:
			f.Dir = path
		default:
			packages = append(packages, s)
		}
	}
	return packages, f
}

// Any reports whether there are files at all.
func (f Files) Any() bool { return len(f.Binaries)+len(f.Programs) > 0 }

// Marked returns what Plan.Packages has of f.
func (f Files) Marked() []string {
	var all []string
	for _, path := range f.Binaries {
		all = append(all, binaryMark+path)
	}
	for _, path := range f.Programs {
		all = append(all, programMark+path)
	}
	if f.Dir != "" && f.Any() {
		all = append(all, dirMark+f.Dir)
	}
	return all
}
