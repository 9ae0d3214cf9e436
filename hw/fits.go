package hw

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dynolab/dyno/internal/record"
)

// Fits is what kept results say of a board: which implementations fit it, and which do
// not, with the reason. What is in neither was not tried.
type Fits struct {
	Fit   []string          // sorted
	Unfit map[string]string // why not
}

// KeptFits reads what the results files in the checkout's folder results say, by the
// names of boards. Of an implementation the newest file counts in which a case of it ran
// or an image of it is too big. It fits unless most of its cases run out of memory, or
// there is no image.
func (c Checkout) KeptFits() (map[string]Fits, error) {
	paths, err := filepath.Glob(filepath.Join(c.Dir, "results", "*", "*.bench"))
	if err != nil {
		return nil, err
	}
	var files []*Kept
	for _, path := range paths {
		if file, err := readKept(path); err != nil {
			return nil, err
		} else if file != nil {
			files = append(files, file)
		}
	}
	slices.SortStableFunc(files, func(a, b *Kept) int { return cmp.Compare(b.File.Value("started"), a.File.Value("started")) })
	kept := make(map[string]Fits)
	for _, file := range files {
		name := file.File.Value(record.BoardKey)
		f, ok := kept[name]
		if !ok {
			f.Unfit = make(map[string]string)
		}
		for _, impl := range file.impls() {
			fits, why := file.fits(impl)
			switch {
			case slices.Contains(f.Fit, impl) || f.Unfit[impl] != "": // a newer file has said it
			case fits:
				f.Fit = append(f.Fit, impl)
			case why != "":
				f.Unfit[impl] = why
			}
		}
		slices.Sort(f.Fit)
		kept[name] = f
	}
	return kept, nil
}

// readKept is ReadKept of a file that may be of anything; it returns nil if it is not of a
// board.
func readKept(path string) (*Kept, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	begins := make([]byte, 4096) // most are of hosts, and large
	n, _ := f.Read(begins)
	if !bytes.Contains(begins[:n], []byte("\n"+record.BoardKey+": ")) {
		return nil, nil
	}
	return ReadKept(path)
}

// impls are the implementations that the file says something of.
func (k *Kept) impls() (all []string) {
	for _, c := range k.Results {
		if c.Impl != "" && !slices.Contains(all, c.Impl) {
			all = append(all, c.Impl)
		}
	}
	return all
}

// fits says whether an implementation fits, as far as the file tells: if it does not,
// why; "" if there is nothing of it.
func (k *Kept) fits(impl string) (fits bool, why string) {
	ran, noMemory := 0, 0
	for _, c := range k.Results {
		switch {
		case c.Impl != impl:
		case c.Case == "" && c.Outcome == TooBig:
			why = c.Err.reason()
		case c.Case != "" && c.Skip == "":
			ran++
			if c.Outcome == OutOfMemory {
				noMemory++
			}
		}
	}
	if noMemory > 0 {
		why = fmt.Sprintf("%d of %d cases run out of memory", noMemory, ran)
	}
	return ran > 0 && noMemory <= ran/2, why
}
