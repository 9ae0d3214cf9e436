package jobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// Format is the version of the document. A job of another one is refused: half of it could be
// misunderstood.
const Format = 1

// The bounds of a job from another machine.
const (
	MostDocument = 16 << 20 // bytes of the document
	MostParts    = 2048
	MostPart     = 1 << 30 // bytes of a part
	MostAll      = 8 << 30 // bytes of all parts
	mostFiles    = 20_000  // in a folder of tests
	mostText     = 4096    // bytes of a name
)

// A Job is a plan with what is needed to carry it out.
type Job struct {
	Format   int    `json:"format"`
	Title    string `json:"title"`    // what is measured, in one line, for people
	Name     string `json:"name"`     // of its results file, without a folder and an ending
	Platform string `json:"platform"` // what it was built for, such as "linux/amd64"

	// Board says what is run on a board; then Plan is empty, since a board is asked for its
	// cases by the machine that it is connected to.
	Board *Board `json:"board,omitempty"`

	// Plan is what record.Plan.Encode has written.
	Plan string `json:"plan,omitempty"`
	// Settings say what is measured, in the results: commits, how it was built, the
	// environment in which the sender would have measured.
	Settings []record.Setting `json:"settings,omitempty"`
	Absent   []record.Hole    `json:"absent,omitempty"` // what the plan has to leave out
	// Expected is about how long it takes where it was made; 0 is not known.
	Expected time.Duration `json:"expected,omitempty"`

	Binaries []Binary  `json:"binaries,omitempty"`
	Programs []Program `json:"programs,omitempty"`
	Parts    []Part    `json:"parts"` // all that the others name, each once

	plan *record.Plan // what Plan says
}

// A Binary is the test binary of a package, or of one version of it.
type Binary struct {
	Pkg        string   `json:"pkg"`
	Side       string   `json:"side,omitempty"`
	Env        []string `json:"env,omitempty"` // of its processes, as "KEY=value": GOGC and GOMEMLIMIT
	Source     string   `json:"source,omitempty"`
	Undrivable string   `json:"undrivable,omitempty"` // why its benchmarks cannot be driven; "" if they can
	Image      string   `json:"image"`                // the part
	Layouts    []string `json:"layouts,omitempty"`    // the parts with its layouts, by number; none if it has one
	Folder     string   `json:"folder,omitempty"`     // the part with the folder in which it runs; "" is an empty one
}

// A Program is a program that speaks the driving protocol. It runs in an empty folder.
type Program struct {
	Name  string        `json:"name"` // as the plan calls it
	Pkg   string        `json:"pkg"`
	Units []string      `json:"units,omitempty"`
	Cases []record.Case `json:"cases"`
	Image string        `json:"image"`
}

// A Part is a file.
type Part struct {
	SHA256 string `json:"sha256"` // in hexadecimal
	Size   int64  `json:"size"`   // in bytes
}

// ID returns the name of the job in a document, and the digest of a part: the SHA-256 of it, in
// hexadecimal.
func ID(document []byte) string {
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}

// IsID reports whether s is what [ID] returns, or the digest of a part.
func IsID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// CarriedPlan returns the plan of a job that [Decode] has read; nil if it is for a board.
func (j *Job) CarriedPlan() *record.Plan { return j.plan }

// CheckPlan returns an error unless results of the plan p are ones of the job.
func (j *Job) CheckPlan(p *record.Plan) error {
	switch {
	case j.Board != nil:
		return j.Board.checkPlan(p)
	case p.ID() != j.plan.ID():
		return fmt.Errorf("it is of the plan %s, and the job's is %s", p.ID(), j.plan.ID())
	}
	return nil
}

// Size returns the bytes of all parts.
func (j *Job) Size() (n int64) {
	for _, p := range j.Parts {
		n += p.Size
	}
	return n
}

// Encode writes the document; equal jobs give equal ones.
func (j *Job) Encode() ([]byte, error) {
	document, err := json.MarshalIndent(j, "", "\t")
	if err != nil {
		return nil, err
	}
	if _, err := Decode(document); err != nil {
		return nil, fmt.Errorf("this cannot be sent: %w", err)
	}
	return document, nil
}

// Decode reads a document of an unknown sender. Its error says what is wrong.
func Decode(document []byte) (*Job, error) {
	if len(document) > MostDocument {
		return nil, fmt.Errorf("the job is a document of %d bytes, more than %d", len(document), MostDocument)
	}
	j := new(Job)
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(j); err != nil {
		return nil, fmt.Errorf("the job cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the job cannot be read: something follows the document")
	}
	if j.Format != Format {
		return nil, fmt.Errorf("the job has format %d, and this benchrun knows %d: sender and machine need the same version", j.Format, Format)
	}
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("the job does not fit together: %w", err)
	}
	return j, nil
}

// check returns an error for what a sender of ours never writes.
func (j *Job) check() (err error) {
	os, arch, ok := strings.Cut(j.Platform, "/")
	switch {
	case !ok || !isWord(os) || !isWord(arch):
		return fmt.Errorf("its platform is %q", j.Platform)
	case !isFileName(j.Name):
		return fmt.Errorf("its name is %q, which is not a file's", j.Name)
	case !isLine(j.Title):
		return errors.New("its title is not a line of text")
	case j.Expected < 0:
		return fmt.Errorf("it expects to take %v", j.Expected)
	}
	if err := j.checkText(); err != nil {
		return err
	}
	var named []string
	if j.Board != nil {
		named, err = j.checkBoard()
	} else if j.plan, err = record.DecodePlan(j.Plan); err == nil {
		named, err = j.checkSubjects()
	}
	if err != nil {
		return err
	}
	return j.checkParts(named)
}

// checkText returns an error for settings or holes that would be no lines of a results file.
func (j *Job) checkText() error {
	for _, s := range j.Settings {
		if !isKey(s.Key) || slices.ContainsFunc(s.Values, func(v string) bool { return !isLine(v) || v == "" }) {
			return fmt.Errorf("the setting %q cannot be written", s.Key)
		}
	}
	for _, h := range j.Absent {
		if !isPath(h.Pkg) || h.Case != "" && !isPath(h.Case) || h.Side != "" && !isWord(h.Side) || h.Block != "" {
			return fmt.Errorf("the missing result of %q cannot be written", h.Name())
		}
	}
	return nil
}

// checkSubjects returns the parts that binaries and programs name. Each case of the plan has
// a binary or a program, and each of those is what the plan says that it measured.
func (j *Job) checkSubjects() (named []string, err error) {
	has := make(map[string]bool) // subject IDs
	for _, b := range j.Binaries {
		id := record.SubjectID(b.Pkg, b.Side)
		switch {
		case !isPath(b.Pkg) || b.Side != "" && !isWord(b.Side) || len(b.Source) > mostText || len(b.Undrivable) > mostText:
			return nil, fmt.Errorf("a binary is of the package %q", b.Pkg)
		case slices.ContainsFunc(b.Env, func(v string) bool {
			return !isLine(v) || !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=")
		}):
			return nil, fmt.Errorf("the binary of %s has the environment %.80q", id, b.Env)
		case has[id]:
			return nil, fmt.Errorf("there are two binaries of %s", id)
		case len(b.Layouts) < j.plan.Layouts && j.plan.Layouts > 1 || len(b.Layouts) > record.MaxLayouts:
			return nil, fmt.Errorf("the binary of %s has %d layouts, and the plan asks for %d", id, len(b.Layouts), j.plan.Layouts)
		case j.plan.Subjects[id] != b.Image:
			return nil, fmt.Errorf("the binary of %s is not the one that the plan names", id)
		}
		has[id] = true
		named = append(append(named, b.Image), b.Layouts...)
		if b.Folder != "" {
			named = append(named, b.Folder)
		}
	}
	cases := make(map[record.Case]bool)
	for _, p := range j.Programs {
		if !isLine(p.Name) || !isPath(p.Pkg) || j.plan.Subjects[p.Name] != p.Image {
			return nil, fmt.Errorf("the program %q is not the one that the plan names", p.Name)
		}
		for _, c := range p.Cases {
			cases[record.Case{Pkg: c.Pkg, Name: c.Name}] = true
		}
		named = append(named, p.Image)
	}
	for _, c := range j.plan.Cases {
		if !cases[record.Case{Pkg: c.Pkg, Name: c.Name}] && !has[record.SubjectID(c.Pkg, c.Side)] && !has[c.Pkg] {
			return nil, fmt.Errorf("nothing in it has %s of %s", c.Name, record.SubjectID(c.Pkg, c.Side))
		}
	}
	return named, nil
}

// checkParts returns an error if the parts are not exactly those that are named.
func (j *Job) checkParts(named []string) error {
	if len(j.Parts) > MostParts {
		return fmt.Errorf("it has %d parts, more than %d", len(j.Parts), MostParts)
	}
	have, all := make(map[string]bool), int64(0)
	for _, p := range j.Parts {
		switch {
		case !IsID(p.SHA256):
			return fmt.Errorf("a part has the digest %.80q", p.SHA256)
		case have[p.SHA256]:
			return fmt.Errorf("part %s is there twice", p.SHA256)
		case p.Size < 0 || p.Size > MostPart:
			return fmt.Errorf("part %s has %d bytes; %d are the most", p.SHA256, p.Size, int64(MostPart))
		}
		have[p.SHA256] = true
		all += p.Size
	}
	if all > MostAll {
		return fmt.Errorf("its parts have %d bytes, more than %d", all, int64(MostAll))
	}
	used := make(map[string]bool)
	for _, n := range named {
		if !have[n] {
			return fmt.Errorf("part %.80q is not in its list", n)
		}
		used[n] = true
	}
	if len(used) != len(have) {
		return errors.New("it has parts that nothing names")
	}
	return nil
}
