package runner

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

func TestParseBuilds(t *testing.T) {
	t.Setenv("GOGC", "80")
	t.Setenv("GOMEMLIMIT", "")
	profile := filepath.Join(t.TempDir(), "a,b.pprof")
	if err := os.WriteFile(profile, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words    map[string][]string
		old, now Build
		err      string
	}{
		{words: map[string][]string{"go": {"go1.26.8,1.27rc1"}, "tags": {"a,b"}}, old: Build{"go": "go1.26.8", "tags": "a,b"}, now: Build{"go": "go1.27rc1", "tags": "a,b"}},
		{words: map[string][]string{"go": {"local"}, "gogc": {",400"}}, old: Build{"go": "local", "gogc": "80"}, now: Build{"go": "local", "gogc": "400"}},
		{words: map[string][]string{"gogc": {"off"}, "gomemlimit": {"4MiB,"}}, old: Build{"gogc": "off", "gomemlimit": "4MiB"}, now: Build{"gogc": "off"}},
		{words: map[string][]string{"tags": {"a,b", ""}, "goexperiment": {"x", "nox,y"}}, old: Build{"tags": "a,b", "goexperiment": "x"}, now: Build{"goexperiment": "nox,y"}},
		{words: map[string][]string{"pgo": {"off", profile}}, old: Build{"pgo": "off"}, now: Build{"pgo": profile}},
		{words: map[string][]string{"go": {"go1.20,go1.20.1"}}, old: Build{"go": "go1.20"}, now: Build{"go": "go1.20.1"}},
		{words: map[string][]string{"go": {"go1.21"}}, err: "called go1.21.0"},
		{words: map[string][]string{"go": {"tip,local"}}, err: `--go is "tip"; it must be a release`},
		{words: map[string][]string{"go": {"a,b,c"}}, err: "--go has 3 values, and there are two sides"},
		{words: map[string][]string{"tags": {"a", "b", "c"}}, err: "--tags has 3 values"},
		{words: map[string][]string{"tags": {"a b"}}, err: "build tags"},
		{words: map[string][]string{"goexperiment": {"a=b"}}, err: "names of experiments"},
		{words: map[string][]string{"gogc": {"-1"}}, err: "a percentage"},
		{words: map[string][]string{"gogc": {"100%"}}, err: "a percentage"},
		{words: map[string][]string{"gomemlimit": {"512Mi"}}, err: "a number of bytes"},
		{words: map[string][]string{"pgo": {profile}}, err: "it must be the file"},
	} {
		both, err := ParseBuilds(c.words)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: %v, want %q", c.words, err, c.err)
			}
		case err != nil || !maps.Equal(both[0], c.old) || !maps.Equal(both[1], c.now):
			t.Errorf("%v: %v, %v", c.words, both, err)
		}
	}
	for flag, words := range map[string][]string{"go": {"go1.26.8,go1.27.4"}, "tags": {"a", "b"}, "gogc": {"1,2"}} {
		if _, err := ParseBuild(map[string][]string{flag: words}); err == nil || !strings.Contains(err.Error(), "benchrun ab compares two") {
			t.Errorf("--%s %v for one build: %v", flag, words, err)
		}
	}
}

// What results say of a build is what is built again, of the side that is asked for.
func TestBuildOf(t *testing.T) {
	from := &record.Interrupted{Config: map[string]string{
		"toolchain": "go version go1.27.4 linux/amd64", "go": "go1.27.4", "old-gogc": "50", "new-gogc": "off", "new-tags": "a", "goflags": "-x",
	}}
	if b := buildOf(from, ""); !maps.Equal(b, Build{"go": "go1.27.4"}) {
		t.Errorf("of one: %v", b)
	}
	both := buildsOf(from)
	if !maps.Equal(both[0], Build{"go": "go1.27.4", "gogc": "50"}) || !maps.Equal(both[1], Build{"go": "go1.27.4", "gogc": "off", "tags": "a"}) {
		t.Errorf("of two: %v", both)
	}
	if got, want := both[1].String(), ", go1.27.4, GOGC=off, -tags=a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := both[1].runEnv(); !slices.Equal(got, []string{"GOGC=off"}) {
		t.Errorf("processes get %q", got)
	}
	env, err := Build{"gogc": "1", "gomemlimit": "1", "tags": "a,b", "pgo": "my 'own' file"}.goEnv(t.Context(), ".", []string{"GOFLAGS=-mod=mod"})
	here, _ := filepath.Abs(".")
	if want := []string{"GOFLAGS=-mod=mod", "GOFLAGS=-mod=mod -tags=a,b \"-pgo=" + here + "/my 'own' file\""}; err != nil || !slices.Equal(env, want) {
		t.Errorf("the go command gets %q, %v, want %q", env, err, want)
	}
}
