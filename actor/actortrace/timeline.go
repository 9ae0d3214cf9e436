package actortrace

import (
	"html/template"
	"io"
	"time"
)

// The drawing, in units of its viewBox.
const (
	nameWidth = 240
	timeWidth = 940
	rowHeight = 26
	leastBar  = 1.5 // what is shorter could not be seen
	nameChars = 34  // of the end of a path, which tells actors apart
)

// bar is a message in the drawing: from X on it waits, and is then handled.
type bar struct {
	Message
	X, Y, Wait, Width float64
	FromY             float64 // the line of who sent it, if From says who
}

type lane struct {
	Name string
	Y    float64
}

// WriteHTML writes a page with a timeline of the messages that are kept, a line an actor, and a table
// of them. The page needs nothing else, no script and no network.
func (tr *Tracer) WriteHTML(w io.Writer) error {
	return page.Execute(w, draw(tr.Messages(), time.Now()))
}

type drawing struct {
	Lanes  []lane
	Bars   []bar
	Height float64
	Span   time.Duration
}

// draw places messages, of which some may not have ended at now.
func draw(all []Message, now time.Time) drawing {
	if len(all) == 0 {
		return drawing{}
	}
	var d drawing
	rows := make(map[string]float64)
	row := func(name string) float64 {
		y, ok := rows[name]
		if !ok {
			y = float64(len(rows)) * rowHeight
			rows[name] = y
			short := []rune(name)
			if over := len(short) - nameChars; over > 0 {
				short = append([]rune{'…'}, short[over+1:]...)
			}
			d.Lanes = append(d.Lanes, lane{string(short), y})
		}
		return y
	}
	begin := func(m Message) time.Time {
		if m.Sent.IsZero() {
			return m.Begun
		}
		return m.Sent
	}
	end := func(m Message) time.Time {
		if m.Ended.IsZero() {
			return now
		}
		return m.Ended
	}
	first, last := begin(all[0]), end(all[0])
	for _, m := range all {
		if t := begin(m); t.Before(first) {
			first = t
		}
		if t := end(m); t.After(last) {
			last = t
		}
	}
	d.Span = last.Sub(first)
	x := func(t time.Time) float64 {
		return nameWidth + timeWidth*float64(t.Sub(first))/float64(max(1, d.Span))
	}
	for _, m := range all {
		b := bar{Message: m, X: x(begin(m)), Wait: x(m.Begun) - x(begin(m)), Width: max(leastBar, x(end(m))-x(m.Begun))}
		if m.From != "" {
			b.FromY = row(m.From)
		}
		b.Y = row(m.To)
		d.Bars = append(d.Bars, b)
	}
	d.Height = float64(len(rows)) * rowHeight
	return d
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"plus": func(a, b float64) float64 { return a + b },
	"handled": func(m Message) string {
		if m.Ended.IsZero() {
			return "not yet ended"
		}
		return m.Ended.Sub(m.Begun).String()
	},
	"waited": func(m Message) string {
		if m.Sent.IsZero() {
			return "–"
		}
		return m.Waited().String()
	},
}).Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Messages between actors</title>
<style>
:root { color-scheme: light dark; font: 14px system-ui, sans-serif }
body { margin: 1rem; max-width: 80rem }
svg { width: 100%; min-width: 50rem }
svg text { fill: CanvasText; font-size: 12px }
.lane { stroke: #8886 }
.sent { stroke: #888; stroke-dasharray: 2 2 }
.wait { fill: #2f7ebc; opacity: .35 }
.run { fill: #2f7ebc }
.bad { fill: #c0392b }
div { overflow-x: auto }
table { border-collapse: collapse }
td, th { text-align: left; padding: .15rem .6rem; border-bottom: 1px solid #8884; white-space: nowrap }
</style>
<h1>Messages between actors</h1>
{{if not .Bars}}<p>No message has been handled yet.</p>{{else}}
<p>{{len .Bars}} messages of {{len .Lanes}} actors in {{.Span}}. Pale: in the mailbox. Solid: being handled; red: failed. Dashed: from who sent it.</p>
<div><svg viewBox="0 0 1200 {{.Height}}" role="img" aria-label="timeline of messages">
{{range .Lanes}}<text x="0" y="{{plus .Y 13}}">{{.Name}}</text><line class="lane" x1="240" x2="1180" y1="{{plus .Y 22}}" y2="{{plus .Y 22}}"/>
{{end}}{{range .Bars}}<g><title>{{.ID}}: {{.Type}} to {{.To}}{{if .From}} from {{.From}}{{end}}, waited {{waited .Message}}, handled {{handled .Message}}{{if .Err}}, {{.Err}}{{end}}</title>{{if .From}}<line class="sent" x1="{{.X}}" y1="{{plus .FromY 9}}" x2="{{.X}}" y2="{{plus .Y 9}}"/>{{end}}<rect class="wait" x="{{.X}}" y="{{plus .Y 3}}" width="{{.Wait}}" height="12"/><rect class="{{if .Err}}bad{{else}}run{{end}}" x="{{plus .X .Wait}}" y="{{plus .Y 3}}" width="{{.Width}}" height="12"/></g>
{{end}}</svg></div>
<div><table><tr><th>message<th>sent in<th>type<th>from<th>to<th>waited<th>handled<th>error
{{range .Bars}}<tr><td>{{.ID}}<td>{{if .Parent}}{{.Parent}}{{else}}–{{end}}<td>{{.Type}}<td>{{if .From}}{{.From}}{{else}}–{{end}}<td>{{.To}}<td>{{waited .Message}}<td>{{handled .Message}}<td>{{with .Err}}{{.}}{{end}}
{{end}}</table></div>{{end}}
</html>
`))
