package fleet

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dynolab/dyno/internal/console"
)

// does says in words what a machine does.
func (m MachineStatus) does() string {
	switch {
	case m.Live == nil:
		return "away"
	case m.Live.State == StateFree && m.Drained:
		return "drained"
	case m.Live.State == StateWaiting:
		return "waits for the machine"
	case m.Drained:
		return m.Live.State + ", then drained"
	}
	return m.Live.State
}

// what is what the machine works on, and for whom it waits.
func (m MachineStatus) what() string {
	if m.Live == nil || m.Live.Job == "" {
		return ""
	}
	text := m.Live.Job[:min(12, len(m.Live.Job))] + " " + m.Live.Title
	if m.Live.State == StateWaiting {
		text += " (" + m.Live.Waits + ")"
	}
	return printable(text)
}

// since is how long it has worked on that.
func (m MachineStatus) since() string {
	if m.Live == nil || m.Live.Job == "" {
		return ""
	}
	return duration(m.For)
}

// left is how long it still takes, about.
func (m MachineStatus) left() string {
	if m.Live == nil || m.Live.Job == "" || m.Live.Left <= 0 {
		return ""
	}
	text := "about " + fmt.Sprint(console.Rough(time.Duration(m.Live.Left*float64(time.Second))))
	if m.Live.Of > 0 {
		what := "block"
		if m.board() != "" {
			what = "case"
		}
		text += fmt.Sprintf(", %s %d of %d", what, min(m.Live.Block+1, m.Live.Of), m.Live.Of)
	}
	return text
}

// waiting is how much is queued behind that.
func (m MachineStatus) waiting() string {
	if len(m.Queue) == 0 {
		return ""
	}
	all := time.Duration(0)
	for _, o := range m.Queue {
		all += o.Expected
	}
	return fmt.Sprintf("%d, about %v", len(m.Queue), console.Rough(all))
}

func duration(seconds float64) string {
	return time.Duration(math.Max(0, seconds) * float64(time.Second)).Round(time.Second).String()
}

// columns are those of the page; the text has no room for the last one.
var columns = []struct {
	Head string
	of   func(m MachineStatus) string
}{
	{"machine", func(m MachineStatus) string { return m.Name }},
	{"does", MachineStatus.does},
	{"for", MachineStatus.since},
	{"left", MachineStatus.left},
	{"job", MachineStatus.what},
	{"queued", MachineStatus.waiting},
	{"is", func(m MachineStatus) string {
		if m.Host != "" {
			return printable(fmt.Sprintf("%s of %s, %s", m.Platform, m.Host, m.CPU))
		}
		return printable(fmt.Sprintf("%s, %s, %s", m.Platform, console.Count(m.Cores, "core"), m.CPU))
	}},
}

// Text writes the status for people.
func (s *Status) Text(w io.Writer) error {
	if len(s.Machines) == 0 {
		_, err := fmt.Fprintf(w, "the fleet at %s has no machine yet: benchfleet join makes this one join\n", s.Server)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	columns := columns[:len(columns)-1]
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.Head)
	}
	fmt.Fprintln(t, strings.Join(heads, "\t"))
	away := 0
	for _, m := range s.Machines {
		if m.Live == nil {
			away++
		}
		var cells []string
		for _, c := range columns {
			cells = append(cells, cmp.Or(shortened(c.of(m)), "-"))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s, %d away; %s known; %s\n", console.Count(len(s.Machines), "machine"), away, console.Count(int(s.Results), "result"), s.Server)
	return err
}

// widest is how many characters a cell of the text has at most, so that a line has a hundred.
const widest = 40

// shortened is a cell of the text.
func shortened(s string) string {
	if r := []rune(s); len(r) > widest {
		return string(r[:widest-1]) + "…"
	}
	return s
}

//go:embed status.html
var statusPage string

var page = template.Must(template.New("status").Parse(statusPage))

// HTML writes the status as a page that asks for itself again every few seconds.
func (s *Status) HTML(w io.Writer) error {
	type row struct {
		Class string
		Cells []string
	}
	data := struct {
		*Status
		Heads []string
		Rows  []row
	}{Status: s}
	for _, c := range columns {
		data.Heads = append(data.Heads, c.Head)
	}
	for _, m := range s.Machines {
		r := row{Class: "away"}
		if m.Live != nil {
			r.Class = m.Live.State
		}
		for _, c := range columns {
			r.Cells = append(r.Cells, c.of(m))
		}
		data.Rows = append(data.Rows, r)
	}
	var b strings.Builder
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, console.Printable(b.String()))
	return err
}

// Page serves the status, as a page and as JSON at /status.json.
func (c *Client) Page() http.Handler {
	mux := http.NewServeMux()
	serve := func(kind string, write func(s *Status, w io.Writer) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s, err := c.Status(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
			w.Header().Set("Cache-Control", "no-store")
			_ = write(s, w) // who has gone away does not hear of it
		}
	}
	mux.HandleFunc("GET /{$}", serve("text/html; charset=utf-8", (*Status).HTML))
	mux.HandleFunc("GET /status.json", serve("application/json", (*Status).JSON))
	return mux
}

// Line says in one line how a job gets on.
func (s *Status) Line(machine, id string) string {
	for _, m := range s.Machines {
		switch {
		case m.Name != machine:
		case m.Live == nil:
			return machine + " is away; the job waits for it"
		case m.Live.Job == id:
			return strings.TrimSpace(fmt.Sprintf("%s: %s for %s  %s", machine, m.does(), m.since(), m.left()))
		case m.Drained:
			return machine + " is drained; the job waits"
		default:
			for i, o := range m.Queue {
				if o.Job == id {
					return fmt.Sprintf("%s: %s before this job", machine, console.Count(i+min(1, len(m.Live.Job)), "job"))
				}
			}
		}
	}
	return ""
}
