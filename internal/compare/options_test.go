package compare

import (
	"strings"
	"testing"
)

func TestCheckOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"":                      {Alpha: DefaultAlpha, Margin: DefaultMargin, Accept: "^BenchmarkX$"},
		"--alpha is 0; ":        {Margin: DefaultMargin},
		"--alpha is 1; ":        {Alpha: 1, Margin: DefaultMargin},
		"--margin is -0.5; ":    {Alpha: DefaultAlpha, Margin: -0.5},
		`--accept "(": error p`: {Alpha: DefaultAlpha, Margin: DefaultMargin, Accept: "("},
	} {
		if err := o.Check(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
