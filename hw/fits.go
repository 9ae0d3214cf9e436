package hw

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	var files []*Interrupted
	for _, path := range paths {
		if file, err := readKept(path); err != nil {
			return nil, err
		} else if file != nil {
			files = append(files, file)
		}
	}
	slices.SortStableFunc(files, func(a, b *Interrupted) int { return cmp.Compare(b.Config["started"], a.Config["started"]) })
	kept := make(map[string]Fits)
	for _, file := range files {
		name := file.Config["board"]
		f, ok := kept[name]
		if !ok {
			f.Unfit = make(map[string]string)
		}
		for _, impl := range file.Plan.Impls {
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

// readKept reads a results file; nil if it is not of a board, or says not what was
// planned.
func readKept(path string) (*Interrupted, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	begins := make([]byte, len(writtenBy))
	if n, _ := f.Read(begins); !bytes.Equal(begins[:n], []byte(writtenBy)) {
		return nil, nil // most are of hosts, and large
	}
	kept, err := ReadInterrupted(path)
	if err != nil {
		return nil, nil
	}
	return kept, nil
}

// fits says whether an implementation fits, as far as the file tells: if it does not,
// why; "" if there is nothing of it.
func (r *Interrupted) fits(impl string) (fits bool, why string) {
	ran, noMemory := 0, 0
	for _, c := range r.Results {
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
