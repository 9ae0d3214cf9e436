package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
	"github.com/dynolab/dyno/internal/why"
)

// Write writes the report of c, with card if that is not nil, as a Markdown document,
// out, and its charts: one of all ratios, one for each curve, and one for each benchmark
// that is on none. The charts go into a folder beside it, named like the document without
// its extension. What is there under the same names is replaced.
//
// Beside it go the same in one HTML file, whose path is that of [HTMLPath], with
// what explains the differences if that lies beside the results; and in one JSON file,
// whose name ends in .report.json.
//
// A benchmark that a logarithmic axis cannot show has no chart.
func Write(c *compare.Comparison, card *targets.Scorecard, out string) error {
	x := explained(c)
	x.Card = card
	return writeAll(out, func(form Form) Doc { return Comparison(c, form, x) }, func(w io.Writer) error { return JSON(w, c, card) })
}

// WriteSideBySide writes s as Write does.
func WriteSideBySide(s *compare.SideBySide, card *targets.Scorecard, out string) error {
	return writeAll(out, func(form Form) Doc { return SideBySide(s, form, card) }, func(w io.Writer) error { return SideBySideJSON(w, s, card) })
}

// WriteMarkdown writes d into a file, without charts.
func WriteMarkdown(path string, d Doc) error {
	var b bytes.Buffer
	if err := d.Markdown(&b, MarkdownOptions{}); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// stem is the name of a report's files, without an extension.
func stem(out string) string { return withoutExt(filepath.Base(out)) }

// writeAll writes the three forms of a report, one after the other, and the charts of the document.
func writeAll(out string, doc func(Form) Doc, data func(io.Writer) error) error {
	taken := make(map[string]bool)
	save := func(f Figure, svg []byte) (string, error) {
		path := stem(out) + "/" + fileName(f.Name, taken) + ".svg"
		return urlPath(path), writeFile(filepath.Join(filepath.Dir(out), path), func(w io.Writer) error {
			_, err := w.Write(svg)
			return err
		})
	}
	markdown := func(w io.Writer) error { return doc(Document).Markdown(w, MarkdownOptions{Save: save}) }
	if err := writeFile(out, markdown); err != nil {
		return err
	}
	if err := writeFile(HTMLPath(out), func(w io.Writer) error { return doc(Page).HTML(w) }); err != nil {
		return err
	}
	return writeFile(withoutExt(out)+".report.json", data)
}

// writeFile writes a file in a folder that need not be there yet. What is there under that name is
// replaced when the whole has been written.
func writeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

// HTMLPath returns where the HTML of the report out, a markdown document, is.
func HTMLPath(out string) string { return withoutExt(out) + ".html" }

func withoutExt(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// explained returns what explains the differences in the only file of c, if that
// lies beside it and can be read.
func explained(c *compare.Comparison) Extra {
	if len(c.Files) != 1 || compare.ReadsStdin(c.Files[0].Path) {
		return Extra{}
	}
	path := c.Files[0].Path
	x, _, err := why.ReadFS(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return Extra{}
	}
	return Extra{Why: x}
}

// Path returns where the report of the results files belongs: beside the first
// of them, or in dir if that is not empty, under its name with the extension
// .md. Standard input, "-", has no place of its own; its report is stdin.md in
// the working directory.
func Path(results []string, dir string) string {
	first := results[0]
	if _, path, ok := strings.Cut(first, "="); ok {
		first = path
	}
	if first == "-" {
		first = "stdin"
	}
	return filepath.Join(cmp.Or(dir, filepath.Dir(first)), stem(first)+".md")
}

// SideBySidePath returns where the side by side of the results files belongs: beside
// the first of them, or in dir if that is not empty. Its name ends in -boards.md, so
// that it does not replace the report of that file alone.
func SideBySidePath(results []string, dir string) string {
	return withoutExt(Path(results, dir)) + "-boards.md"
}

// fileName makes a file name of a benchmark's name, not yet in taken, and
// takes it. It keeps letters, digits, dots and equals signs.
func fileName(name string, taken map[string]bool) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '=':
			return r
		}
		return '-'
	}, name)
	base = cmp.Or(strings.Trim(base, "-."), "benchmark")
	// Names that differ only in case are one file on some systems.
	unique := base
	for n := 2; taken[strings.ToLower(unique)]; n++ {
		unique = fmt.Sprintf("%s-%d", base, n)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}
