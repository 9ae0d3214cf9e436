package boardrun

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/record"
)

// fits is what kept results say of a board: which implementations fit it, and which do
// not, with the reason. What is in neither was not tried.
type fits struct {
	fit   []string          // sorted
	unfit map[string]string // why not
}

// keptFits reads what the results files in the checkout's folder results say, by the
// names of boards. Of an implementation the newest file counts in which a case of it ran
// or an image of it is too big.
func keptFits(checkout hw.Checkout) (map[string]fits, error) {
	paths, err := filepath.Glob(filepath.Join(checkout.Dir, "results", "*", "*.bench"))
	if err != nil {
		return nil, err
	}
	var files []*hw.Kept
	for _, path := range paths {
		if of, err := ofBoard(path); err != nil {
			return nil, err
		} else if !of {
			continue
		}
		file, err := hw.ReadKept(path)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.SortStableFunc(files, func(a, b *hw.Kept) int { return cmp.Compare(b.File.Value("started"), a.File.Value("started")) })
	kept := make(map[string]fits)
	for _, file := range files {
		name := file.File.Value(record.BoardKey)
		f, ok := kept[name]
		if !ok {
			f.unfit = make(map[string]string)
		}
		for _, impl := range implsOf(file.Results) {
			fit, why := doesFit(file.Results, impl)
			switch {
			case slices.Contains(f.fit, impl) || f.unfit[impl] != "": // a newer file has said it
			case fit:
				f.fit = append(f.fit, impl)
			case why != "":
				f.unfit[impl] = why
			}
		}
		slices.Sort(f.fit)
		kept[name] = f
	}
	return kept, nil
}

// ofBoard reports whether a results file is of a board, by its beginning: most are of
// hosts, and large.
func ofBoard(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	begins := make([]byte, 4096)
	n, _ := f.Read(begins)
	return bytes.Contains(begins[:n], []byte("\n"+record.BoardKey+": ")), nil
}

// implsOf are the implementations of results.
func implsOf(results []hw.CaseResult) (all []string) {
	for _, c := range results {
		if c.Impl != "" && !slices.Contains(all, c.Impl) {
			all = append(all, c.Impl)
		}
	}
	return all
}

// doesFit says whether an implementation fits, by its results: unless most of its cases run
// out of memory, or there is no image. why says why not; "" if it was not tried.
func doesFit(results []hw.CaseResult, impl string) (fit bool, why string) {
	ran, noMemory := 0, 0
	for _, c := range results {
		switch {
		case c.Impl != impl:
		case c.Case == "" && c.Outcome == hw.TooBig:
			why = c.Err.What
		case c.Case != "" && c.Skip == "":
			ran++
			if c.Outcome == hw.OutOfMemory {
				noMemory++
			}
		}
	}
	if noMemory > 0 {
		why = fmt.Sprintf("%d of %d cases run out of memory", noMemory, ran)
	}
	return ran > 0 && noMemory <= ran/2, why
}
