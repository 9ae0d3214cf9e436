package lint

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRecursion: each line of testdata/recursion that says what it wants is on a cycle,
// and nothing else is.
func TestRecursion(t *testing.T) {
	if os.Getenv("DYNO_NIGHTLY") == "" {
		t.Skip("with DYNO_NIGHTLY only, as what it is for")
	}
	p, err := Load("testdata/recursion", "./cycles", "./allowed")
	if err != nil {
		t.Fatal(err)
	}
	policy := RecursionPolicy{
		Roots:   []string{"cycles.Gone"},
		RootsOf: []string{"cycles.Port", "cycles.Gone", "gone.Port"},
		Apart:   []string{"time.AfterFunc", "time.Gone"},
		Beyond:  []string{"allowed.beyond", "allowed.gone"},
		Allowed: []Call{
			{From: "allowed.down", To: "allowed.up", Why: "three times"},
			{From: "allowed.m…", To: "allowed.many…", Why: "three times"},
			{From: "allowed.b", To: "allowed.a", Why: "once"},
			{From: "allowed.StartReasonless", To: "allowed.StartReasonless"},
			{From: "allowed.StartLoop", To: "allowed.leaf", Why: "once"},
		},
	}
	for name := range p.calls {
		if strings.Contains(name, ".Start") {
			policy.Roots = append(policy.Roots, name)
		}
	}
	var cycles []Violation
	var wrong []string // in the policy
	for _, v := range p.Check(policy) {
		if what, ok := strings.CutSuffix(v.What, ": correct the policy"); ok {
			wrong = append(wrong, what)
		} else {
			cycles = append(cycles, v)
		}
	}
	compare(t, cycles, wants(t, os.DirFS("testdata/recursion")))
	want := []string{
		"the root cycles.Gone is not in the packages that were read", // of Roots
		"the root cycles.Gone is not in the packages that were read", // of RootsOf
		"the root gone.Port is not in the packages that were read",
		"allowed.gone was not reached",
		"nothing that was reached hands a function to time.Gone",
		"no reason is given why allowed.StartReasonless may call allowed.StartReasonless",
		"the call of allowed.leaf by allowed.StartLoop is on no cycle",
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("got  %q\nwant %q", wrong, want)
	}
}

func TestLoadFails(t *testing.T) {
	for pattern, want := range map[string]string{"./broken": "broken.go:3", "./gone": "gone"} {
		if _, err := Load("testdata/recursion", pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error that names %s, got %v", pattern, want, err)
		}
	}
	if _, err := Load("testdata/gone", "./..."); err == nil {
		t.Error("no error for a folder that is not there")
	}
}
