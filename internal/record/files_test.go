package record

import (
	"slices"
	"testing"
)

func TestFiles(t *testing.T) {
	f := Files{Binaries: []string{"x.test", "a b/y.test"}, Programs: []string{"./c"}, Dir: "d"}
	all := append([]string{"./...", "example.com/p"}, f.Marked()...)
	packages, got := SplitFiles(all)
	if !slices.Equal(packages, all[:2]) || !slices.Equal(got.Binaries, f.Binaries) || !slices.Equal(got.Programs, f.Programs) || got.Dir != "d" || !got.Any() {
		t.Errorf("%q becomes %q and %+v", all, packages, got)
	}
	if got := (Files{Dir: "d"}).Marked(); len(got) > 0 {
		t.Errorf("a folder of no files is %q", got)
	}
	if packages, f := SplitFiles([]string{"./binary"}); f.Any() || len(packages) != 1 {
		t.Errorf("%q and %+v", packages, f)
	}
}
