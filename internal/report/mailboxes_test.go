package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
)

// TestMailboxesFigures holds the page on mailboxes to the results file that it
// names, as TestReadmeFigures does with the README. For other figures name
// another file in the page and run it with -update.
func TestMailboxesFigures(t *testing.T) {
	hold(t, "docs/mailboxes.md", readmeFigures, "MailboxesFigures", func(root, files string) []byte { return mailboxFigures(t, root, files) })
}

// mailboxFigures renders what the page quotes of a results file: the time for a
// message, relative to the box word, and bytes.
func mailboxFigures(t *testing.T, root, file string) []byte {
	t.Helper()
	c, err := compare.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, compare.Options{Col: "/box", Base: "word"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- figures: begin %s -->\n", file)
	fmt.Fprintf(&b, "Time per message, of `word` and of the others relative to it; **bold** where the difference is proven. Below it the bytes of a mailbox.\n")
	fmt.Fprintf(&b, "Machine: %s, %s cores, %s; commit %.8s, %d blocks ([raw file](../%s)).\n\n",
		setting(c.Files[0], "cpu-model"), setting(c.Files[0], "cores"), setting(c.Files[0], "toolchain"), setting(c.Files[0], "commit"), c.Files[0].Blocks, file)
	head := false
	for _, tab := range c.Tables {
		if tab.Unit != "ns/op" && !strings.HasPrefix(tab.Unit, "B/") || tab.Unit == "B/msg" {
			continue
		}
		if !head {
			head = true
			b.WriteString("| |")
			for _, col := range tab.Cols {
				b.WriteString(" `" + col.Name + "` |")
			}
			b.WriteString("\n|---|" + strings.Repeat("---:|", len(tab.Cols)) + "\n")
		}
		for _, r := range tab.Rows {
			name := workloadName(r)
			name = strings.TrimPrefix(name, "Mailbox/work=")
			if tab.Unit != "ns/op" {
				name = "`" + tab.Unit + "`"
			}
			b.WriteString("| " + name + " |")
			for _, cell := range r.Cells {
				switch vs := cell.Vs; {
				case tab.Unit != "ns/op":
					fmt.Fprintf(&b, " %.0f |", cell.Center)
				case vs == nil && cell.N > 0:
					fmt.Fprintf(&b, " %.1f ns |", cell.Center)
				case vs == nil:
					b.WriteString(" |")
				default:
					b.WriteString(quotedRatio(cell))
				}
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("<!-- figures: end -->")
	return b.Bytes()
}
