package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// lookAt returns a hand that decides the second group after block 2, and all that
// are left of the first three after block 4.
func lookAt(plan *record.Plan, looked *[]int) func() ([]record.Group, error) {
	return func() ([]record.Group, error) {
		*looked = append(*looked, len(*looked)+1)
		g := plan.Groups()
		if len(*looked) == 1 {
			return g[1:2], nil
		}
		return g[:3], nil // one of them is decided already
	}
}

func TestLooks(t *testing.T) {
	plan := recordtest.Sequential()
	path := filepath.Join(recordtest.Dir(t), "run.bench")
	s := create(t, path, plan)
	w := new(fakeWorld)
	h := w.deps()
	var looked []int
	h.look = lookAt(plan, &looked)
	p := new(watched)
	must(t, errors.Join(carryOut(context.Background(), plan, s, nil, p, h), s.Close()))
	// The last look is the reader's.
	if want := []string{"2 1 12", "4 2 12"}; !slices.Equal(p.looks, want) || p.done != p.total {
		t.Errorf("looks %q, want %q; %d of %d done", p.looks, want, p.done, p.total)
	}
	blocks := make(map[string]int)
	for key := range find(t, path) {
		_, step, _ := strings.Cut(key, "/")
		blocks[step]++
	}
	if got, want := fmt.Sprint(blocks), "map[1/1:4 1/2:4 2/1:4 3/1:2 3/2:2 4/1:2 5/1:4 5/2:4 6/1:4 7/1:6]"; got != want {
		t.Errorf("blocks of each step: %s, want %s", got, want)
	}
	data := readFile(t, path)
	for _, want := range []string{
		"# end of block 2\n# decided: group=2 pkg=example.com/a row=\"H-2\" block=2\n# look: block=2\nblock: 3\n",
		"# decided: group=3 pkg=example.com/a row=\"I-2\" block=4\n# look: block=4\nblock: 5\n",
	} {
		if !strings.Contains(string(unsummed(data)), want) {
			t.Errorf("the file lacks %q", want)
		}
	}

	// Cut off anywhere, the run takes each look once, with what was complete then,
	// and measures what is left.
	whole := find(t, path)
	for cut := firstPart(data); cut <= len(data); cut += 41 {
		must(t, os.WriteFile(path, data[:cut], 0o644))
		r := interrupted(t, path)
		s := resume(t, r)
		looked := slices.Clone(r.Looked)
		h := (&fakeWorld{}).deps()
		h.look = lookAt(plan, &looked)
		p := new(watched)
		must(t, errors.Join(carryOut(context.Background(), r.Plan, s, r, p, h), s.Close()))
		got := find(t, path)
		for key := range whole {
			if _, ok := got[key]; !ok {
				t.Errorf("cut at %d: %s is missing", cut, key)
			}
		}
		if len(got) != len(whole) || p.done != p.total || len(looked) != 2 {
			t.Errorf("cut at %d: %d entries, want %d; %d of %d done; looks %v", cut, len(got), len(whole), p.done, p.total, looked)
		}
		if t.Failed() {
			return
		}
	}
}

// When all is decided the run is finished.
func TestLooksDecideAll(t *testing.T) {
	plan := recordtest.Sequential()
	plan.Cases = plan.Cases[:4]
	path := filepath.Join(recordtest.Dir(t), "run.bench")
	s := create(t, path, plan)
	h := new(fakeWorld).deps()
	h.look = func() ([]record.Group, error) { return plan.Groups(), nil }
	p := new(watched)
	must(t, errors.Join(carryOut(context.Background(), plan, s, nil, p, h), s.Close()))
	r := interrupted(t, path)
	if !r.Finished() || r.Ended != 2 || p.done != p.total {
		t.Errorf("finished %v after %d blocks, %d of %d done", r.Finished(), r.Ended, p.done, p.total)
	}
}

// A prepared world is asked before each block, of what is still measured.
type prepared struct {
	*fakeWorld
	err   error // of block 3
	asked []string
}

func (p *prepared) Prepare(_ context.Context, block int, units []record.Unit) error {
	p.asked = append(p.asked, fmt.Sprint(block, ":", len(units)))
	if block == 3 {
		return p.err
	}
	return nil
}

func TestPrepare(t *testing.T) {
	plan := recordtest.Sequential()
	plan.Cases = plan.Cases[:4]
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	for _, c := range []struct {
		fails, want error
		asked       string
	}{{nil, nil, "[1:2 2:2 3:1 4:1 5:1 6:1]"}, {os.ErrInvalid, os.ErrInvalid, "[1:2 2:2 3:1]"}, {os.ErrInvalid, ErrInterrupted, "[1:2 2:2 3:1]"}} {
		s := create(t, filepath.Join(recordtest.Dir(t), "run.bench"), plan)
		w := &prepared{fakeWorld: new(fakeWorld), err: c.fails}
		h := w.deps()
		h.Subject = w
		h.look = func() ([]record.Group, error) {
			if errors.Is(c.want, ErrInterrupted) {
				interrupt()
			}
			return plan.Groups()[:1], nil
		}
		err := carryOut(ctx, plan, s, nil, Quiet{}, h)
		if got := fmt.Sprint(w.asked); !errors.Is(err, c.want) || got != c.asked {
			t.Errorf("%v: asked %s, want %s; want %v", err, got, c.asked, c.want)
		}
		must(t, s.Close())
	}
}

func TestThreeLooks(t *testing.T) {
	for blocks, want := range map[int]string{12: "[6 9 12]", 14: "[7 11 14]", 10: "[8 10]", 9: "[7 9]", 6: "[6]", 2: "[2]", 1: "[1]"} {
		looks := ThreeLooks(blocks)
		if got := fmt.Sprint(looks); got != want {
			t.Errorf("%d blocks: looks after %s, want %s", blocks, got, want)
		}
		p := recordtest.Turns(2, blocks, 3)
		p.Looks, p.Alpha, p.Margin = looks, compare.DefaultAlpha, compare.DefaultMargin
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

// The hand of a real run: what is twice as fast is decided at a look – the second,
// since a twentieth of the level is too little for eight blocks and two comparisons –
// and what is the same within a narrow margin or more is not.
func TestLooksByVerdicts(t *testing.T) {
	plan := recordtest.Sequential()
	plan.Blocks, plan.Looks, plan.Cases = 16, []int{8, 12, 16}, plan.Cases[:4]
	path := filepath.Join(recordtest.Dir(t), "run.bench")
	s := create(t, path, plan)
	w := new(fakeWorld)
	w.make = func(block int, s record.Step) *fakeDriver {
		f := new(fakeDriver)
		if strings.HasPrefix(s.Case.Name, "BenchmarkH") { // 300 and 310 ns, ± 10 %
			f.perOp = constantly(time.Duration(1000*s.Index + 700 + 97*((block*7+s.Index*5+s.Copy*3)%8)))
			if s.Index == 4 {
				f.perOp = constantly(time.Duration(3750 + 97*((block*7+s.Index*5)%8)))
			}
		}
		return f
	}
	h := w.deps()
	h.look = func() ([]record.Group, error) { return compare.Decided(plan, path) }
	p := new(watched)
	must(t, errors.Join(carryOut(context.Background(), plan, s, nil, p, h), s.Close()))
	r := interrupted(t, path)
	if got := fmt.Sprint(r.Stopped, r.Looked, r.Ended); got != "map[1:12] [8 12] 16" {
		t.Errorf("stopped, looked, ended: %s", got)
	}
}
