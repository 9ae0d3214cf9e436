package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

func TestParse(t *testing.T) {
	if err := Supported(); err != nil {
		t.Skip(err)
	}
	for text, want := range map[string][]string{
		`sh -c 'exit 0'`:      {"sh", "-c", "exit 0"},
		`sh  a\ b "c 'd'" ''`: {"sh", "a b", "c 'd'", ""},
		`sh 'a$b|c' "a|b"`:    {"sh", "a$b|c", "a|b"},
	} {
		if c, err := Parse(text, false); err != nil || !slices.Equal(c.Args, want) || c.Text != text || len(c.Hash) != 64 {
			t.Errorf("%s: %q, %v, want %q", text, c.Args, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "is empty", "sh 'a": "not closed", "sh | sh": "| is for a shell: --shell has one", `sh "$x"`: "--shell", "nosuchprogram": "nosuchprogram", "./none": "no such file",
	} {
		if _, err := Parse(text, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if c, err := Parse("true | true; exit $((1-1))", true); err != nil {
		t.Error(err)
	} else if _, err := c.Once(t.Context(), nil, time.Minute); err != nil {
		t.Error(err)
	}
}

// A slice of n operations is n processes, which have the environment of their step, and
// one that fails, or hangs, or is killed on request, says so.
func TestCommands(t *testing.T) {
	if err := Supported(); err != nil {
		t.Skip(err)
	}
	parse := func(text string) Command {
		c, err := Parse(text, true)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	file := t.TempDir() + "/log"
	c := New(t.Context(), parse("echo $PAD >>"+file), parse("echo no database; exit 3"), time.Minute)
	step := record.Step{Case: record.Case{Name: "BenchmarkCommand", Side: record.SideOld}}
	d, err := c.Start(1, step, []string{"PAD=x"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Run(3)
	if err != nil || s.N != 3 || s.Elapsed <= 0 || s.CPU < 0 || !s.NoMemory {
		t.Errorf("%+v, %v", s, err)
	}
	lines := parse("test \"$(cat " + file + ")\" = \"x\nx\nx\"")
	if _, err := lines.Once(t.Context(), nil, time.Minute); err != nil {
		t.Errorf("three processes did not run: %v", err)
	}
	if r, err := d.Finish(); err != nil || !strings.HasPrefix(r.Line, "3\t") || !strings.HasSuffix(r.Line, " ns/op") {
		t.Errorf("%+v, %v", r, err)
	}
	step.Case.Side = record.SideNew
	if d, err = c.Start(1, step, nil); err != nil {
		t.Fatal(err)
	}
	var f *program.Failure
	if _, err := d.Run(2); !errors.As(err, &f) || f.Reason != "ended with exit status 3: no database" || f.Output != "no database" {
		t.Errorf("%v: %+v", err, f)
	}
	if _, err := parse("exec sleep 1000").Once(t.Context(), nil, 50*time.Millisecond); !errors.As(err, &f) || !strings.Contains(f.Reason, "not finished after 50ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(program.ErrKilled)
	if _, err := parse("exec sleep 1000").Once(ctx, nil, time.Minute); err != program.ErrKilled {
		t.Error(err)
	}
}
