package hw

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Images that were built before give what a run gives that builds them, also what could not be
// built, and without a checkout.
func TestPrebuilt(t *testing.T) {
	o := fakeBench(t, "kept|good")
	o.Impls = []string{"serial", "lost"}
	whole, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prebuild(t.Context(), o, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sent := o
	sent.Checkout, sent.Impls, sent.Prebuilt, sent.Out = Checkout{}, nil, p, filepath.Join(t.TempDir(), "sent.bench")
	s, err := Run(t.Context(), sent)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b CaseResult) bool {
		return a.Impl == b.Impl && a.Case == b.Case && a.Outcome == b.Outcome && a.Skip == b.Skip
	}
	if s.Worst != whole.Worst || len(s.Results) < 3 || !slices.EqualFunc(s.Results, whole.Results, same) {
		t.Errorf("built before:\n%v, %+v\nbuilt by the run:\n%v, %+v", s.Worst, s.Results, whole.Worst, whole.Results)
	}

	// What was sent is looked at: an image that is another one is not run.
	i := slices.IndexFunc(p.Images, func(im PrebuiltImage) bool { return im.Err == nil })
	hash := p.Images[i].Hash
	for _, spoil := range []func(im *PrebuiltImage){
		func(im *PrebuiltImage) { im.Hash = strings.Repeat("0", len(hash)) },
		func(im *PrebuiltImage) { im.Parts = []string{"bench"} },
		func(im *PrebuiltImage) {
			im.Path = filepath.Join(t.TempDir(), "no.elf")
			if err := os.WriteFile(im.Path, []byte("garbage"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
	} {
		other := *p
		other.Images = slices.Clone(p.Images)
		spoil(&other.Images[i])
		sent.Prebuilt, sent.Out = &other, filepath.Join(t.TempDir(), "spoilt.bench")
		s, err := Run(t.Context(), sent)
		if err != nil || len(s.Files) > 0 || s.Worst != BuildFailed {
			t.Errorf("%+v was run: %v, %+v", other.Images[i], err, s)
		}
	}
}

// What is flashed from sources is not built for another machine.
func TestPrebuildRefuses(t *testing.T) {
	boards, err := Boards()
	if err != nil {
		t.Fatal(err)
	}
	b, err := boards.Find("pico")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Prebuild(t.Context(), RunOptions{Devices: []Device{{Board: b}}}, t.TempDir()); !outcomeIs(err, FlashFailed) {
		t.Errorf("%v", err)
	}
}
