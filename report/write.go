package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/lab/why"
	"github.com/dynolab/dyno/targets"
)

// Write writes c, with card if that is not nil, as a markdown document, out, and its charts in the first unit:
// one of all ratios, one for each curve, and one for each benchmark that is on
// none. The charts go into a
// folder beside it, named like the document without its extension. What is
// there under the same names is replaced.
//
// Beside it go the same in one HTML file, whose path is that of [HTMLPath], with
// what explains the differences if that lies beside the results; and in one JSON file,
// whose name ends in .report.json.
//
// A benchmark that a logarithmic axis cannot show has no chart.
func Write(c *lab.Comparison, card *targets.Scorecard, out string) error {
	stem := strings.TrimSuffix(filepath.Base(out), filepath.Ext(out))
	folder := filepath.Join(filepath.Dir(out), stem)
	pics := &pictures{rows: make(map[int]string), curves: make(map[int]string)}
	chart := func(name string, draw func(io.Writer) error) (string, error) {
		var b bytes.Buffer
		err := draw(&b)
		if errors.Is(err, ErrNoChart) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("drawing %s: %w", name, err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o644); err != nil {
			return "", err
		}
		return urlPath(stem + "/" + name), nil
	}
	if len(c.Tables) > 0 {
		t := c.Tables[0]
		if wide(t) {
			file, err := chart("overview.svg", func(w io.Writer) error { return Overview(w, c, t) })
			if err != nil {
				return err
			}
			pics.overview = file
		}
		taken := map[string]bool{"overview": true}
		drawn := make(map[int]bool) // rows on curves
		for i, curve := range t.Curves() {
			file, err := chart(fileName(curveName(curve), taken)+".svg", func(w io.Writer) error { return CurveChart(w, c, t, curve) })
			if err != nil {
				return err
			}
			if file == "" {
				continue
			}
			pics.curves[i] = file
			for _, p := range curve.Points {
				drawn[p.Row] = true
			}
		}
		for i, r := range t.Rows {
			if drawn[i] {
				continue
			}
			file, err := chart(fileName(benchmark(r), taken)+".svg", func(w io.Writer) error { return Chart(w, c, t, r) })
			if err != nil {
				return err
			}
			if file != "" {
				pics.rows[i] = file
			}
		}
	}
	var b bytes.Buffer
	if err := markdown(&b, c, card, "Comparison of "+stem, pics); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		return err
	}
	x := explained(c)
	x.Title, x.Card = "Comparison of "+stem, card
	b.Reset()
	if err := HTML(&b, c, x); err != nil {
		return err
	}
	if err := os.WriteFile(HTMLPath(out), b.Bytes(), 0o644); err != nil {
		return err
	}
	b.Reset()
	if err := JSON(&b, c, card); err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(out, filepath.Ext(out))+".report.json", b.Bytes(), 0o644)
}

// HTMLPath returns where the HTML of the report out, a markdown document, is.
func HTMLPath(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".html" }

// explained returns what explains the differences in the only file of c, if that
// lies beside it and can be read.
func explained(c *lab.Comparison) Extra {
	if len(c.Files) != 1 || lab.ReadsStdin(c.Files[0].Path) {
		return Extra{}
	}
	path := c.Files[0].Path
	x, folder, _, err := why.ReadFS(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return Extra{}
	}
	return Extra{Why: x, Folder: folder}
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
	if dir == "" {
		dir = filepath.Dir(first)
	}
	return filepath.Join(dir, strings.TrimSuffix(filepath.Base(first), filepath.Ext(first))+".md")
}

// fileName makes a file name of a benchmark's name, not yet in taken, and
// takes it. It keeps letters, digits, dots and equals signs.
func fileName(name string, taken map[string]bool) string {
	base := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '=':
			return r
		}
		return '-'
	}, name), "-.")
	if base == "" {
		base = "benchmark"
	}
	// Names that differ only in case are one file on some systems.
	unique := base
	for n := 2; taken[strings.ToLower(unique)]; n++ {
		unique = fmt.Sprintf("%s-%d", base, n)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}

// urlPath escapes what a link destination in markdown cannot hold.
func urlPath(s string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "#", "%23", "?", "%3F", `\`, "%5C").Replace(s)
}
