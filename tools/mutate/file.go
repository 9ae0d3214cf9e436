package mutate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A File is the results of one commit, which grow until every mutant has one. Lines
// "key: value" say what was run, where, on which commit and with which seed; for each mutant
// there is a line of four fields with tabs between them: verdict, seconds, what killed it, and
// its name. Lines are only ever added.
type File struct {
	Settings []Setting
	Results  []Result

	mu   sync.Mutex // guards what is above, and f
	f    *os.File
	path string
}

// A Setting is a line about a run.
type Setting struct{ Key, Value string }

// Setting returns the value of a setting; "" if there is none.
func (f *File) Setting(key string) string {
	for _, s := range f.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Read reads a file. A last line without an end, of a run that was killed, is left out.
func Read(r io.Reader) (*File, error) {
	f := &File{}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, whole := strings.CutSuffix(line, "\n")
		if !whole || line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) == 4 {
			took, err := time.ParseDuration(fields[1])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			f.Results = append(f.Results, Result{Verdict: Verdict(fields[0]), Took: took, By: fields[2], ID: fields[3]})
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok || len(fields) != 1 {
			return nil, fmt.Errorf("line %d is neither a setting nor a result: %q", number, line)
		}
		f.Settings = append(f.Settings, Setting{key, value})
	}
	return f, nil
}

// ReadFile reads the file at a path.
func ReadFile(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := Read(bufio.NewReader(r))
	if err != nil {
		return nil, fmt.Errorf("mutate: %s: %w", path, err)
	}
	f.path = path
	return f, nil
}

// Create makes a file with settings. There must be none at the path.
func Create(path string, header []Setting) (*File, error) {
	w, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	f := &File{Settings: header, f: w, path: path}
	text := "# Written by internal/mutate/mutants; never edited.\n"
	for _, s := range header {
		text += s.Key + ": " + s.Value + "\n"
	}
	_, err = w.WriteString(text)
	return f, err
}

// Resume opens a file to which results are to be added.
func Resume(path string) (*File, error) {
	f, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if f.f, err = os.OpenFile(path, os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	whole := int64(strings.LastIndexByte(string(text), '\n') + 1) // a line that a kill has cut is written over
	if err := f.f.Truncate(whole); err != nil {
		return nil, errors.Join(err, f.f.Close())
	}
	_, err = f.f.Seek(whole, io.SeekStart)
	return f, err
}

// Add adds a result, on the disk as well. Any goroutine may call it.
func (f *File) Add(r Result) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Results = append(f.Results, r)
	return f.line(strings.Join([]string{string(r.Verdict), strconv.FormatFloat(r.Took.Seconds(), 'f', 1, 64) + "s", r.By, r.ID}, "\t"))
}

// Note adds a setting that was found out on the way. Any goroutine may call it.
func (f *File) Note(s Setting) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Settings = append(f.Settings, s)
	return f.line(s.Key + ": " + s.Value)
}

// line writes a line. f.mu is held.
func (f *File) line(text string) error {
	_, err := f.f.WriteString(text + "\n")
	return errors.Join(err, f.f.Sync())
}

// Close ends writing.
func (f *File) Close() error { return f.f.Close() }

// Latest returns the newest result of each mutant: who is tried again, after a test was
// added, may be killed now.
func (f *File) Latest() map[string]Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	latest := map[string]Result{}
	for _, r := range f.Results {
		latest[r.ID] = r
	}
	return latest
}
