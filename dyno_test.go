package dyno_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dynolab/dyno"
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
