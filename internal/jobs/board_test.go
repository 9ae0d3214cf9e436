package jobs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// boardJob packs a job for a board: one image, and one that there is not.
func boardJob(t *testing.T) (p *Packer, j *Job) {
	t.Helper()
	dir := t.TempDir()
	p, err := NewPacker(filepath.Join(dir, "job"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := p.File(write(t, dir+"/firmware.elf", "image"))
	if err != nil {
		t.Fatal(err)
	}
	return p, &Job{Title: "board run b", Name: "run-0123", Platform: BoardPlatform("b"), Board: &Board{
		Kind: "b", Commit: "0123", Dirty: "false", Compiler: Compiler{Kind: "go", Go: "go1.26.8"},
		Impls: []string{"serial", "channel"}, Parts: []string{"bench"}, Count: 2, Timeout: time.Minute, Silence: time.Second,
		Images: []Image{
			{Impl: "serial", Parts: []string{"bench"}, File: file, Hash: strings.Repeat("ab", 32)},
			{Impl: "channel", Parts: []string{"bench"}, Outcome: 3, Why: "it does not fit"},
		},
	}}
}

// A job for a board comes out as it was packed; results of it have its images.
func TestBoard(t *testing.T) {
	p, j := boardJob(t)
	if _, err := p.Finish(j); err != nil {
		t.Fatal(err)
	}
	o, err := Open(p.folder, t.TempDir())
	if err != nil || o.Board == nil || o.CarriedPlan() != nil {
		t.Fatalf("%+v, %v", o, err)
	}
	if text, err := os.ReadFile(o.Image(o.Board.Images[0].File)); err != nil || string(text) != "image" {
		t.Errorf("%q, %v", text, err)
	}
	plan := &record.Plan{Blocks: 2, Timeout: time.Minute, Subjects: map[string]string{"serial": o.Board.Images[0].Hash}}
	if err := o.CheckPlan(plan); err != nil {
		t.Error(err)
	}
	for what, spoil := range map[string]func(*record.Plan){
		"is not an image of the job": func(p *record.Plan) { p.Subjects["channel"] = strings.Repeat("cd", 32) },
		"it has 3 blocks":            func(p *record.Plan) { p.Blocks = 3 },
		"of 1h0m0s":                  func(p *record.Plan) { p.Timeout = time.Hour },
	} {
		other := *plan
		other.Subjects = map[string]string{"serial": o.Board.Images[0].Hash}
		spoil(&other)
		if err := o.CheckPlan(&other); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
}

// What a sender of ours never writes of a board is refused, whatever it is.
func TestHostileBoards(t *testing.T) {
	for what, spoil := range map[string]func(j *Job){
		"has a plan":                      func(j *Job) { j.Plan = recordtest.Turns(2, 6, 3).Encode() },
		"its platform is":                 func(j *Job) { j.Platform = "linux/amd64" },
		`the board "../b"`:                func(j *Job) { j.Board.Kind = "../b" },
		"is not a line of text":           func(j *Job) { j.Board.Commit = "a\nmachine: other" },
		"runs each case 0 times":          func(j *Job) { j.Board.Count = 0 },
		"for -1ns at most":                func(j *Job) { j.Board.Timeout = -1 },
		"it has 0 images":                 func(j *Job) { j.Board.Images = nil },
		"it has 501 images":               func(j *Job) { j.Board.Images = make([]Image, mostImages+1) },
		"has no name":                     func(j *Job) { j.Board.Impls = []string{""} },
		"missing closing )":               func(j *Job) { j.Board.Case = "(" },
		"of the implementation":           func(j *Job) { j.Board.Images[0].Impl = "a b" },
		"and not said why":                func(j *Job) { j.Board.Images[1].Outcome = 0 },
		`has the hash "x"`:                func(j *Job) { j.Board.Images[0].Hash = "x" },
		"is not in its list":              func(j *Job) { j.Board.Images[0].File = strings.Repeat("0", 64) },
		"it has parts that nothing names": func(j *Job) { j.Board.Images = j.Board.Images[1:] },
	} {
		p, j := boardJob(t)
		spoil(j)
		if _, err := p.Finish(j); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
		if _, err := os.Stat(DocumentPath(p.folder)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: it was written, %v", what, err)
		}
	}
}
