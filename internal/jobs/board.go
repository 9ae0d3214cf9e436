package jobs

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// A Board is what is run on a board or an emulator: images that the sender has built.
type Board struct {
	Kind     string   `json:"kind"`             // of the board, such as "cortex-m3-qemu"
	Commit   string   `json:"commit,omitempty"` // of the sources
	Dirty    string   `json:"dirty,omitempty"`  // whether they differ from it: session.Commit
	Compiler Compiler `json:"compiler"`

	Impls []string `json:"impls"`
	All   bool     `json:"all,omitempty"` // they are all that there are: none was asked for by name
	Parts []string `json:"parts"`         // of the firmware
	Case  string   `json:"case,omitempty"`
	Count int      `json:"count"`
	// Timeout is how long a case may take, and Silence how long the board may say nothing, in
	// nanoseconds.
	Timeout time.Duration `json:"timeout"`
	Silence time.Duration `json:"silence"`

	Images []Image `json:"images"`
}

// A Compiler is what has made images: hw.Compiler.
type Compiler struct {
	Kind    string `json:"kind"`
	Version string `json:"version,omitempty"`
	Go      string `json:"go"`
}

// An Image is firmware for the board, or why there is none.
type Image struct {
	Impl    string   `json:"impl"`
	Parts   []string `json:"parts"`
	File    string   `json:"file,omitempty"`    // the part; "" if there is none
	Hash    string   `json:"hash,omitempty"`    // of what of it is loaded: hw.Image.Hash
	Outcome int      `json:"outcome,omitempty"` // hw.Outcome, if there is no file
	Why     string   `json:"why,omitempty"`
}

// BoardPlatform is the platform of jobs for a kind of board, and of machines that are one.
func BoardPlatform(kind string) string { return boardSystem + kind }

const boardSystem = "board/"

// mostImages and mostCount bound what a job asks of a board.
const (
	mostImages = 500
	mostCount  = 10_000
)

// checkBoard returns the parts that the images are, or an error for what a sender of ours never
// writes.
func (j *Job) checkBoard() (named []string, err error) {
	b := j.Board
	switch {
	case j.Plan != "" || len(j.Binaries)+len(j.Programs)+len(j.Absent) > 0:
		return nil, errors.New("it is for a board, and has a plan, binaries or programs")
	case !isWord(b.Kind) || j.Platform != BoardPlatform(b.Kind):
		return nil, fmt.Errorf("it is for the board %.80q, and its platform is %q", b.Kind, j.Platform)
	case !isLine(b.Commit) || !isLine(b.Dirty) || !isPath(b.Compiler.Kind) || !isLine(b.Compiler.Version) || !isPath(b.Compiler.Go):
		return nil, errors.New("what its images were made of and by is not a line of text")
	case b.Count < 1 || b.Count > mostCount || b.Timeout <= 0 || b.Silence <= 0:
		return nil, fmt.Errorf("it runs each case %d times, for %v at most, with a silence of %v", b.Count, b.Timeout, b.Silence)
	case len(b.Images) == 0 || len(b.Images) > mostImages:
		return nil, fmt.Errorf("it has %d images; 1 to %d are what a board is sent", len(b.Images), mostImages)
	case slices.ContainsFunc(slices.Concat(b.Impls, b.Parts), func(s string) bool { return !isPath(s) }):
		return nil, errors.New("an implementation or a part has no name")
	}
	if _, err := regexp.Compile(b.Case); err != nil {
		return nil, err
	}
	for _, im := range b.Images {
		switch {
		case !isPath(im.Impl) || slices.ContainsFunc(im.Parts, func(s string) bool { return !isPath(s) }) || len(im.Why) > MostDocument:
			return nil, fmt.Errorf("an image is of the implementation %.80q", im.Impl)
		case im.File == "" && (im.Outcome <= 0 || im.Why == ""):
			return nil, fmt.Errorf("there is no image of %s, and not said why", im.Impl)
		case im.File != "" && (!IsID(im.Hash) || im.Outcome != 0):
			return nil, fmt.Errorf("the image of %s has the hash %.80q", im.Impl, im.Hash)
		case im.File != "":
			named = append(named, im.File)
		}
	}
	return named, nil
}

// checkPlan returns an error unless results of the plan p can be ones of the images.
func (b *Board) checkPlan(p *record.Plan) error {
	if p.Blocks != b.Count || p.Timeout != b.Timeout {
		return fmt.Errorf("it has %d blocks with cases of %v at most, and the job asks for %d of %v", p.Blocks, p.Timeout, b.Count, b.Timeout)
	}
	for name, hash := range p.Subjects {
		if !slices.ContainsFunc(b.Images, func(im Image) bool { return im.File != "" && im.Hash == hash }) {
			return fmt.Errorf("%s is not an image of the job", name)
		}
	}
	return nil
}
