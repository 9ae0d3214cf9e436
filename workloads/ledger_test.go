package workloads

import (
	"errors"
	"strings"
	"testing"

	"github.com/dynolab/dyno/group"
)

// Each thing that can be wrong with the results of a round has its message.
// Several of them are noticed twice over in a run; here each is alone.
func TestLedger(t *testing.T) {
	ok := func(i int) group.Result[int] { return group.Result[int]{Value: i} }
	errTask := errors.New("task failed")
	for _, c := range []struct {
		name    string
		n       int
		results []group.Result[int]
		want    string // in the error; empty for none
	}{
		{"complete", 3, []group.Result[int]{ok(2), ok(0), ok(1)}, ""},
		{"one missing", 3, []group.Result[int]{ok(2), ok(0)}, "1 of 3 results missing, among them that of task 1"},
		{"all missing", 70, nil, "70 of 70 results missing, among them that of task 0"},
		{"late one missing", 66, results(65), "1 of 66 results missing, among them that of task 65"},
		{"twice", 3, []group.Result[int]{ok(2), ok(0), ok(2)}, "two results of task 2"},
		{"of another round", 3, []group.Result[int]{ok(2), ok(3)}, "no task returned: value 3"},
		{"another value", 3, []group.Result[int]{ok(2 | 1<<10)}, "no task returned: value 1026"},
		{"negative", 3, []group.Result[int]{ok(-1)}, "no task returned: value -1"},
		{"failed", 3, []group.Result[int]{{Value: 1, Err: errTask}}, `task 1 ended with the wrong error: "task failed"`},
	} {
		b := newLedger(&batch{want: numbers(100)}, true)
		for range 2 { // what is left of one round must not show in the next
			b.open(100)
			for _, r := range results(100) {
				if err := b.enter(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.open(c.n)
		var err error
		for _, r := range c.results {
			if err = b.enter(r); err != nil {
				break
			}
		}
		if err == nil {
			err = b.shut()
		}
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestBookAbsorb(t *testing.T) {
	spec := &batch{want: numbers(100)}
	all, one, two := newLedger(spec, false), newLedger(spec, false), newLedger(spec, false)
	for _, b := range []*ledger{one, two} { // a longer round before
		b.open(100)
		for _, r := range results(100) {
			if err := b.enter(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, overlap := range []bool{false, true} {
		for _, b := range []*ledger{all, one, two} {
			b.open(20)
		}
		for i, r := range results(20) {
			b := one
			if i%3 == 0 {
				b = two
			}
			if err := b.enter(r); err != nil {
				t.Fatal(err)
			}
		}
		if overlap {
			if err := one.enter(group.Result[int]{Value: 9}); err != nil {
				t.Fatal(err)
			}
		}
		err := errors.Join(all.absorb(one), all.absorb(two))
		switch {
		case overlap && (err == nil || !strings.Contains(err.Error(), "two results of task 9")):
			t.Errorf("task 9 in both: error %v", err)
		case !overlap && (err != nil || all.shut() != nil):
			t.Errorf("each task in one of them: errors %v, %v", err, all.shut())
		}
	}
}

func TestCountCheck(t *testing.T) {
	if err := countCheck(3, 3); err != nil {
		t.Errorf("3 of 3: %v", err)
	}
	if err := countCheck(3, 2); err == nil || !strings.Contains(err.Error(), "3 operations were asked for and 2 results booked") {
		t.Errorf("2 of 3: %v", err)
	}
}

// results returns the results of tasks 0 … n-1.
func results(n int) []group.Result[int] {
	s := make([]group.Result[int], n)
	for i := range s {
		s[i].Value = i
	}
	return s
}
