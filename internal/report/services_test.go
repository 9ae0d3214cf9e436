package report

import (
	"io"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
)

// What services read has each figure once, under the name that it has in a later run as well, and
// in a list for which less is better nothing of which more is.
func TestServices(t *testing.T) {
	service := func(name string) func(*compare.Comparison) string {
		return func(c *compare.Comparison) string {
			return string(render(t, func(w io.Writer) error { return Services[name](w, c) }))
		}
	}
	bencher, action := service("bencher"), service("github")
	two, one := unpaired(t), compared(t, samples+"old.txt")
	mentions(t, bencher(two), `"Decode-8/new.txt": {`, "\"latency\": {\n      \"value\": 1540.3,\n      \"lower_value\": 1521.4,\n      \"upper_value\": 1559.7\n")
	mentions(t, bencher(one), `"Decode-8": {`, `"B/op": {`)
	mentions(t, action(one), "\"name\": \"Decode-8\",\n    \"unit\": \"ns/op\",\n    \"value\": 1996.5,\n    \"range\": \"± 28.3\"\n", `"name": "Decode-8 - B/op",`)
	one.Tables[0].Better = +1
	one.Tables[1].Resource = true
	if out := action(one) + bencher(one); strings.Contains(out, `"ns/op"`) || strings.Contains(out, one.Tables[1].Unit) {
		t.Error(out)
	}
}
