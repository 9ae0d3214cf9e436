package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/why"
)

// Sizes of a flame graph, in pixels.
const (
	flameWidth  = 1200
	flameMargin = 12
	flameLine   = 18  // height of a frame
	flameChar   = 6.7 // width of a character at 11 px, monospaced
	flameLeast  = 0.5 // frames that are narrower are left out, with all that they call
)

// flameGraph draws a differential flame graph as SVG: the calls of this above, those
// of base below, both to one scale, so that what is faster is narrower. A frame
// is as wide as what it costs there, with all that it calls. Its colour says
// whether the function costs more or less than on the other side, wherever it is
// called: orange more, blue less, grey neither, or not by more than sampling may
// make. Two graphs, because one would have no room for what is only in the other.
//
// The file needs no script and nothing beside it: a frame's title, which browsers
// show where the pointer rests, has its figures. The same trees give the same
// bytes.
func flameGraph(title, baseName, thisName string, t *why.Tree) []byte {
	f := flame{t: t, scale: (flameWidth - 2*flameMargin) / max(t.Base.Cost, t.This.Cost, 1e-9)}
	y := 58.0
	for _, p := range []struct {
		name string
		root *why.Node
	}{{thisName, t.This}, {baseName, t.Base}} {
		f.add(`<text x="%d" y="%.0f" class="h">%s: %s</text>`+"\n", flameMargin, y,
			escaped(p.name), escaped(flameCost(p.root.Cost, t)))
		y += 8
		depth := f.frames(p.root, flameMargin, y, p.root.Cost)
		y += float64(depth)*flameLine + 30
	}
	what := map[why.Kind]string{
		why.CPU: "CPU time of all threads", why.Alloc: "bytes allocated",
		why.Mutex: "time that others waited for locks held here", why.Block: "time that goroutines were blocked here",
		why.Instructions: "instructions",
	}[t.Kind]
	var b markup
	b.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" role="img">
<title>%s</title>
<desc>Differential flame graph of the %s for an operation, of %s and of %s, to one scale.</desc>
<style>text{font:11px ui-monospace,Menlo,Consolas,'Liberation Mono',monospace;fill:#111}.h{font-weight:bold}rect{stroke:#fff;stroke-width:.6}g:hover rect{stroke:#000;stroke-width:1.2}</style>
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="%d" y="18" class="h">%s</text>
`, flameWidth, y, flameWidth, y, escaped(title), what, escaped(thisName), escaped(baseName), flameMargin, escaped(title))
	x := float64(flameMargin)
	for _, key := range []struct {
		change float64
		text   string
	}{{1, "costs more, doubled or new"}, {0.3, "somewhat more"}, {0, "the same, or not told apart"}, {-0.3, "somewhat less"}, {-1, "less, halved or gone"}} {
		b.add(`<rect x="%.1f" y="28" width="12" height="12" fill="%s"/><text x="%.1f" y="38">%s</text>`+"\n",
			x, flameColor(key.change), x+16, key.text)
		x += 16 + flameChar*float64(len(key.text)) + 18
	}
	return []byte(console.Printable(string(slices.Concat(b, f.markup, markup("</svg>\n")))))
}

type flame struct {
	markup
	t     *why.Tree
	scale float64 // pixels for a unit of cost
}

// frames draws what n calls, and that below it, and returns how many lines it
// takes.
func (f *flame) frames(n *why.Node, x, y, total float64) (lines int) {
	for _, c := range n.Children {
		width := c.Cost * f.scale
		if width < flameLeast {
			x += max(width, 0)
			continue
		}
		base, this, sure := f.t.Func(c.Symbol)
		change := 0.0
		if sure {
			change = math.Log2((this + 1e-12) / (base + 1e-12))
		}
		f.add(`<g><title>%s: %s here, %.1f%%`, escaped(c.Name), flameCost(c.Cost, f.t), 100*c.Cost/total)
		f.add("\nwherever it is called: %s against %s", flameCost(this, f.t), flameCost(base, f.t))
		switch {
		case !sure && base != this:
			f.add(", not told apart")
		case base == 0:
			f.add(", new")
		case this == 0:
			f.add(", gone")
		default:
			f.add(", × %s", formatRatio(this/base))
		}
		f.add(`</title><rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`, x, y, width, flameLine-1, flameColor(change))
		if label := fitting(strings.TrimPrefix(c.Name, "runtime."), width-6); label != "" {
			f.add(`<text x="%.1f" y="%.0f">%s</text>`, x+3, y+12.5, escaped(label))
		}
		f.add("</g>\n")
		lines = max(lines, 1+f.frames(c, x, y+flameLine, total))
		x += width
	}
	return lines
}

// flameColor is the colour of a change, as the logarithm to base 2 of its ratio:
// from grey to orange for what doubled, to blue for what halved. The ends are colours
// that people who do not see all colours tell apart (M. Okabe, K. Ito, Color Universal
// Design, 2008), with so much grey that black is read on them.
func flameColor(change float64) string {
	const grey, most = 0xe4, 0.75
	to := [3]uint8{0xd5, 0x5e, 0x00}
	if change < 0 {
		to = [3]uint8{0x00, 0x72, 0xb2}
	}
	share := most * min(math.Abs(change), 1)
	mix := func(c uint8) int { return int(math.Round(grey + (float64(c)-grey)*share)) }
	return fmt.Sprintf("#%02x%02x%02x", mix(to[0]), mix(to[1]), mix(to[2]))
}

// fitting shortens a name to what fits into width; "" if that is too little to
// be read.
func fitting(name string, width float64) string {
	n := int(width / flameChar)
	if utf8.RuneCountInString(name) <= n {
		return name
	}
	if n < 4 {
		return ""
	}
	r := []rune(name)
	return string(r[:n-1]) + "…"
}

// flameCost writes what an operation costs.
func flameCost(v float64, t *why.Tree) string {
	switch t.Kind {
	case why.Alloc:
		return formatRatio(v) + " B/op"
	case why.Instructions:
		return formatValue(v, record.UnitCounted) + " " + record.UnitCounted
	}
	return formatTime(v*1e-9) + "/op"
}

// WriteFlames draws a flame graph for each profile of c that has anything in it,
// beside the profiles, and notes their paths in c. results is the results file.
func WriteFlames(results string, c *why.Cell) error {
	for i := range c.Profiles {
		p := &c.Profiles[i]
		t, err := why.ReadTree(results, p)
		if err != nil {
			return err
		}
		if !(t.Base.Cost > 0) && !(t.This.Cost > 0) {
			continue
		}
		p.Flame = strings.TrimSuffix(p.This.Path, ".pb.gz") + ".svg"
		svg := flameGraph(fmt.Sprintf("%s: %s against %s, %s", c.Row, c.Column, c.Base, p.Kind), c.Base, c.Column, t)
		if err := os.WriteFile(filepath.Join(why.Folder(results), filepath.FromSlash(p.Flame)), svg, 0o644); err != nil {
			return err
		}
	}
	return nil
}
