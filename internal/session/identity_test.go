package session

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// What DescribeMachine says of a machine is known to be of it: else a job would carry it to
// another one.
func TestWithoutMachine(t *testing.T) {
	c := DescribeMachine(t.Context(), "box")
	if left := WithoutMachine(c); len(left) > 0 || len(c.Fixed) < 4 {
		t.Errorf("%v is taken for what is measured, of %d settings", left, len(c.Fixed))
	}
	all := Describe(t.Context(), ".", "box", "")
	code := WithoutMachine(all)
	if i := slices.IndexFunc(code, func(s record.Setting) bool { return s.Key == "toolchain" }); i < 0 || len(code) >= len(all.Fixed) {
		t.Errorf("of the code there is %v", code)
	}
}

// A machine has one identity, which says nothing but that it is the same.
func TestIdentity(t *testing.T) {
	one, again := Identity(t.Context()), Identity(t.Context())
	if !reflect.DeepEqual(one, again) {
		t.Errorf("a machine is %v, and then %v", one, again)
	}
	if one[0].Key != IdentityKey || !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(one[0].Values[0]) {
		t.Errorf("it begins with %v", one[0])
	}
	for _, s := range one[1:] {
		if s.Key == "host" || s.Key == "command line" {
			t.Errorf("%s leaves the machine", s.Key)
		}
	}
}
