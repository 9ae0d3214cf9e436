package panics

import (
	"errors"
	"testing"
	"time"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "nil"},
		{errors.New("no pressure"), "no pressure"},
		{time.Second, "1s"},
		{"text", "text"},
		{true, "true"},
		{-7, "-7"},
		{int64(-8), "-8"},
		{uint64(9), "9"},
		{3.25, "3.25"},
		{-1e-9, "-0"},
		{[]int{1}, "(a value that is neither error, string nor number)"},
	} {
		if got := Text(c.v); got != c.want {
			t.Errorf("%#v: %q, want %q", c.v, got, c.want)
		}
	}
}
