package main

import (
	"strings"
	"testing"

	"github.com/dynolab/dyno/impls"
)

const want = `10 clickers, 100 clicks each: 1000
main.increment to /user/counter came back: actor: the actor has stopped
`

func TestCounter(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			var out strings.Builder
			if err := run(&out, impl.NewDispatcher()); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
