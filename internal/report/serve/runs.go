package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
)

// A run is what a results file says of the run that writes it, however much of it
// is there.
type run struct {
	Name, URL string // of the file, and where it is shown
	Machine   string // or board, and whether that was emulated
	Config    map[string]string
	Planned   int // blocks; 0 if the file does not say, or not in a way that can be read
	Ended     int // complete blocks
	Decided   int // rows that are stopped early, by the rule of the plan
	Done      bool
	Block     int // the block that goes on; 0 if none does
	InBlock   int // results and holes in it
	Due       int // results and holes in a block
	Resumed   bool
	Results   int
	Holes     int
	Latest    string // name of the latest result
	Torn      bool   // ends in the middle of a line
	stamp     string // changes with the file
	Modified  time.Time
	When      time.Time // by which runs are in order
	Outcome   string    // a sentence; empty if it is not known
	Problem   string    // why the file cannot be read
}

// parseRun reads as much of a results file as is there. Lines that it does not know
// are no concern of it.
func parseRun(name string, data []byte) run {
	r := run{Name: name, URL: (&url.URL{Path: "/run/" + name + "/"}).String(), Config: make(map[string]string)}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	r.Torn = len(whole) < len(data)
	for line := range record.Lines(string(whole)) {
		switch {
		case line.Key == "block":
			if n, err := strconv.Atoi(line.Value); err == nil && n != r.Block {
				r.Block, r.InBlock = n, 0
			}
		case line.Mark == record.BlockEnd:
			if n, err := strconv.Atoi(line.Rest); err == nil {
				r.Ended, r.Block, r.InBlock = n, 0, 0
			}
		case line.Mark == record.HoleMark:
			r.Holes++
			if r.Block > 0 {
				r.InBlock++
			}
		case line.Mark == record.ResumedMark:
			r.Resumed = true
		case line.Mark == record.ResultMark:
			r.Results++
			r.InBlock++
			r.Latest, _, _ = strings.Cut(line.Text, " ")
			r.Latest, _, _ = strings.Cut(r.Latest, "\t")
		case line.Key != "" && r.Ended == 0 && r.Block == 0:
			r.Config[line.Key] = line.Value
		}
	}
	if r.Machine = cmp.Or(r.Config["machine"], r.Config[record.BoardKey]); r.Machine == "" {
		r.Machine = path.Dir(name)
	}
	if compare.IsEmulated(r.Config[record.EmulatedKey]) {
		r.Machine += ", emulated"
	}
	// The plan says what is to come. Files that have none are complete, as far as one
	// can know.
	if i, err := record.ParseInterrupted(name, data); err == nil {
		r.Planned, r.Decided, r.Done = i.Plan.Blocks, len(i.Stopped), i.Finished()
		r.Due = len(i.Plan.Steps())
	}
	return r
}

// recently is how long after its last line a run that is not done is taken to go
// on. A process writes a line when it is finished, and may take minutes.
const recently = 3 * time.Minute

// State says how far the run is.
func (r run) State(now time.Time) string {
	blocks := fmt.Sprintf("%d blocks", r.Ended)
	if r.Planned > 0 {
		blocks = fmt.Sprintf("%d of %d blocks", r.Ended, r.Planned)
	}
	if r.Decided > 0 {
		blocks += fmt.Sprintf(", %d rows decided", r.Decided)
	}
	switch {
	case r.Problem != "":
		return "unreadable: " + r.Problem
	case r.Done:
		return "complete: " + blocks
	case r.Planned == 0:
		return "complete" // as far as one can know: it is the output of go test, or of a board
	case now.Sub(r.Modified) < recently:
		return "goes on: " + blocks
	}
	return "interrupted: " + blocks
}

// Percent is how much of the run is done.
func (r run) Percent() int {
	switch {
	case r.Done:
		return 100
	case r.Planned == 0 || r.Due == 0:
		return 0
	}
	return min(99, 100*(r.Ended*r.Due+min(r.InBlock, r.Due))/(r.Planned*r.Due))
}

// left is about how long the rest takes at the pace so far; 0 if that is not known,
// because the run has only begun, or has been interrupted for who knows how long.
func (r run) left() time.Duration {
	started, err := time.Parse(time.RFC3339, r.Config["started"])
	done := r.Percent()
	if err != nil || r.Resumed || r.Done || done < 3 {
		return 0
	}
	return r.Modified.Sub(started) * time.Duration(100-done) / time.Duration(done)
}

// maxRuns bounds how many runs are listed.
const maxRuns = 1000

// runs returns the runs below root, the latest first, and whether there are more.
func (s *server) runs() (list []run, more bool) {
	err := fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // what cannot be read is not shown
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, extension):
		case len(list) == maxRuns:
			more = true
			return fs.SkipAll
		default:
			list = append(list, s.runOf(name))
		}
		return nil
	})
	if err != nil {
		list = append(list, run{Name: ".", Problem: err.Error()})
	}
	slices.SortStableFunc(list, func(a, b run) int {
		return cmp.Or(b.When.Compare(a.When), strings.Compare(b.Name, a.Name))
	})
	return list, more
}

// runOf reads one run.
func (s *server) runOf(name string) run {
	f, err := s.read(name, maxResults)
	if err != nil {
		return run{Name: name, Problem: err.Error()}
	}
	r := parseRun(name, f.data)
	r.Modified = f.modified
	r.When = r.began()
	if r.When.IsZero() || r.Planned > 0 && !r.Done && s.o.Now().Sub(r.Modified) < recently {
		r.When = r.Modified
	}
	r.stamp = f.stamp
	return r
}

// began is when a run began, as it says itself or the name of its file, as benchrun gives
// them: a checkout gives all files one time.
func (r run) began() time.Time {
	if t, err := time.Parse(time.RFC3339, r.Config["started"]); err == nil {
		return t
	}
	const form = "20060102-150405"
	base := path.Base(r.Name)
	t, _ := time.Parse(form, base[:min(len(base), len(form))])
	return t
}

// Counts says how many results there are, and how many are missing.
func (r run) Counts() string {
	counts := fmt.Sprintf("%d results", r.Results)
	if r.Results == 1 {
		counts = "1 result"
	}
	if r.Holes > 0 {
		counts += fmt.Sprintf(", %d missing", r.Holes)
	}
	return counts
}

// patience is how long the list may take to say what came of runs: of the newest at least, and of
// the others when it is asked for again.
const patience = time.Second

// conclude says what came of the runs, the first ones of the list first.
func (s *server) conclude(list []run) {
	begun := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		r := &list[i]
		if r.Problem != "" || r.Planned > 0 && !r.Done || i > 0 && time.Since(begun) > patience {
			continue
		}
		r.Outcome, _ = s.outcomes.get(r.Name, r.stamp, func() (string, error) {
			f, err := s.read(r.Name, maxResults)
			if err != nil {
				return "", err
			}
			c, err := s.compare(r.Name, compare.Of(record.Read(r.Name, f.data)))
			if err != nil {
				return "It cannot be compared: " + err.Error(), nil
			}
			return report.Outcome(c), nil
		})
	}
}

// Started is when the run began, for people.
func (r run) Started() string {
	return strings.NewReplacer("T", " ", "Z", "").Replace(r.Config["started"])
}

// Commit is the beginning of the commit that was measured.
func (r run) Commit() string {
	commit := r.Config["commit"]
	return commit[:min(8, len(commit))]
}

// index lists the runs.
func (s *server) index(w http.ResponseWriter, r *http.Request) error {
	list, more := s.runs()
	s.conclude(list)
	return show(w, r, "index", "Results", struct {
		Runs []run
		Now  time.Time
		Most int
		More bool
	}{list, s.o.Now(), maxRuns, more})
}

// A liveRun is what a run that goes on shows.
type liveRun struct {
	run
	Says   string
	Latest string
	Age    string
	// Remaining is about how long the rest takes; empty if that is not known.
	Remaining string
	Command   string // that goes on with it; empty if it needs none
	SoFar     template.HTML
	Why       string // there is nothing so far
	tag       string
}

// progressOf returns how far a run is.
func (s *server) progressOf(name string) (liveRun, error) {
	f, err := s.read(name, maxResults)
	if err != nil {
		return liveRun{}, err
	}
	r := parseRun(name, f.data)
	r.Modified = f.modified
	now := s.o.Now()
	pause := now.Sub(f.modified)
	g := liveRun{run: r, Says: r.State(now), Latest: strings.TrimPrefix(r.Latest, "Benchmark"), Age: age(pause)}
	if left := r.left(); left > 0 && pause < recently {
		g.Remaining = roughly(left)
	}
	if !r.Done && r.Planned > 0 && pause >= recently {
		g.Command = "benchrun run --resume " + path.Base(name)
	}
	// The state may change without the file.
	g.tag = fmt.Sprintf("\"%s-%x\"", f.stamp, g.Says)
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.compare(name, compare.Of(record.Read(name, complete(f.data))))
	if err != nil {
		g.Why = err.Error()
		return g, nil
	}
	var b bytes.Buffer
	err = report.Ratios(&b, c)
	g.SoFar = template.HTML(b.String()) // made by a template that escapes
	return g, err
}

// complete is the part of a results file up to the end of its last complete block,
// or if it has none, all of it.
func complete(data []byte) []byte {
	at := bytes.LastIndex(data, []byte("\n"+record.BlockEnd))
	if at < 0 {
		return data
	}
	end := bytes.IndexByte(data[at+1:], '\n')
	if end < 0 {
		return data
	}
	return data[:at+1+end+1]
}

// age says how long ago something was.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// roughly says a time as one would.
func roughly(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds())+1)
	}
	return fmt.Sprintf("%d min", int(d.Minutes()+1))
}

// live shows a run that goes on, or the part of that page that changes, which is sent
// only if it is another one than the reader has.
func (s *server) live(w http.ResponseWriter, r *http.Request, name string, part bool) error {
	g, err := s.progressOf(name)
	if err != nil {
		return err
	}
	template := "live"
	if part {
		template = "part"
		w.Header().Set("ETag", g.tag)
		if g.Done {
			w.Header().Set("Dyno-Done", "yes")
		}
	}
	return show(w, r, template, "Progress of "+strings.TrimSuffix(path.Base(name), extension), g)
}
