package record

import (
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/foreign"
)

// toolKey says which tool has written a file that is not in the Go benchmark format.
const toolKey = "tool"

// translated returns text, or what it says in the Go benchmark format if another tool has
// written it; see package foreign.
func translated(text string) (string, error) {
	if begin := strings.TrimSpace(text); !strings.HasPrefix(begin, "{") && !strings.HasPrefix(begin, "[") {
		return text, nil
	}
	run, err := foreign.Read([]byte(text))
	if err != nil || run == nil {
		return text, err
	}
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	line(toolKey, ": ", run.Tool)
	b.WriteString(run.Text)
	for _, c := range run.Config {
		line(c[0], ": ", c[1])
	}
	for _, n := range run.Notes {
		line(NoteMark, formatFields("row", strconv.Quote(n.Name), "text", strconv.Quote(n.Text)))
	}
	for _, m := range run.Missing {
		if m.Pkg != "" {
			line("pkg: ", m.Pkg)
		}
		line(Hole{Case: ResultMark + m.Name, Reason: m.Reason, Skipped: m.Skipped}.Line())
	}
	for _, r := range run.Results {
		b.WriteString(ResultMark + r.Name + " " + strconv.Itoa(r.N))
		for _, v := range r.Values {
			b.WriteString(" " + strconv.FormatFloat(v.V, 'g', -1, 64) + " " + v.Unit)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
