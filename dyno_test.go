package dyno_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// TestLacks goes through every field of Promises, so that one that is added is
// not forgotten in Lacks.
func TestLacks(t *testing.T) {
	fields := reflect.TypeFor[dyno.Promises]()
	var all dyno.Promises
	for i := range fields.NumField() {
		reflect.ValueOf(&all).Elem().Field(i).SetBool(true)
	}
	var names []string
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		names = append(names, name)
		var one dyno.Promises
		reflect.ValueOf(&one).Elem().Field(i).SetBool(true)
		if got := (dyno.Promises{}).Lacks(one); !slices.Equal(got, []string{name}) {
			t.Errorf("with no promise made, Lacks(%s) = %q", name, got)
		}
		if got := one.Lacks(one); len(got) != 0 {
			t.Errorf("with %s promised, Lacks(%s) = %q, want none", name, name, got)
		}
		but := all
		reflect.ValueOf(&but).Elem().Field(i).SetBool(false)
		if got := but.Lacks(all); !slices.Equal(got, []string{name}) {
			t.Errorf("with all but %s promised, Lacks of all = %q", name, got)
		}
		if got := one.Lacks(dyno.Promises{}); len(got) != 0 {
			t.Errorf("nothing is needed, and Lacks = %q", got)
		}
	}
	if got := (dyno.Promises{}).Lacks(all); !slices.Equal(got, names) {
		t.Errorf("Lacks of all = %q, want the order of declaration %q", got, names)
	}
}

// Joined takes all that a runtime makes, and nothing from elsewhere.
func TestJoined(t *testing.T) {
	alone := dyno.Impl{
		Name:          "alone",
		NewDispatcher: func() actor.Dispatcher { return nil },
		NewExecutor:   func() task.Executor { return nil },
	}
	if j := alone.Joined(); j.NewDispatcher == nil || j.NewExecutor == nil || j.NewGroup != nil {
		t.Errorf("without a runtime: %+v", j)
	}
	runtimes, groups := 0, 0
	together := alone
	together.NewRuntime = func() dyno.Runtime {
		runtimes++
		return dyno.Runtime{NewGroup: func(context.Context, ...group.Option) group.Group[int] {
			groups++
			return nil
		}}
	}
	j := together.Joined()
	if j.Name != "alone" || j.NewDispatcher != nil || j.NewExecutor != nil {
		t.Errorf("with a runtime that makes groups only: %+v", j)
	}
	j.NewGroup(context.Background())
	j.NewGroup(context.Background())
	if runtimes != 1 || groups != 2 {
		t.Errorf("%d groups on %d runtimes, want 2 on 1", groups, runtimes)
	}
}
