package boardrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/report"
)

// A Listed board is a kind of board, with what is known of it here.
type Listed struct {
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Chip     string            `json:"chip"`
	Kind     hw.Kind           `json:"kind"`
	RAM      int64             `json:"ram"`
	Flash    int64             `json:"flash"`
	Emulated bool              `json:"emulated"`
	Fits     []string          `json:"fits"`
	Unfit    map[string]string `json:"unfit,omitempty"`
	Connect  []string          `json:"connected,omitempty"` // IDs in the hardware map
	Missing  []string          `json:"missing"`             // on this machine
	Install  string            `json:"install"`

	// Runner is what runs its images here, as hw.FindRunner says; Unrunnable is why nothing
	// does. Sent says that images which were built elsewhere can be run.
	Runner     string `json:"runner,omitempty"`
	Unrunnable string `json:"unrunnable,omitempty"`
	Sent       bool   `json:"sent"`
}

// List returns all boards. mapFile is the path of the hardware map, as hw.ReadMap takes it.
func List(ctx context.Context, mapFile string) ([]Listed, error) {
	boards, err := hw.Boards()
	if err != nil {
		return nil, err
	}
	m, err := hw.ReadMap(mapFile, boards)
	if err != nil {
		return nil, err
	}
	var kept map[string]fits // outside of a checkout none
	if checkout, err := hw.FindCheckout(ctx, ""); err == nil {
		if kept, err = keptFits(checkout); err != nil {
			return nil, err
		}
	}
	all := []Listed{}
	for _, b := range boards {
		l := listed(b, m, kept[b.Name], hw.Missing(ctx, b))
		var err error
		if l.Runner, err = hw.FindRunner(ctx, b); err != nil {
			l.Unrunnable = err.Error()
		}
		all = append(all, l)
	}
	return all, nil
}

func listed(b hw.Board, m *hw.Map, kept fits, missing []error) Listed {
	l := Listed{
		Name: b.Name, Title: b.Title, Chip: b.Chip, Kind: b.Kind, RAM: b.RAM, Flash: b.Flash, Emulated: b.Emulated,
		Fits: append([]string{}, kept.fit...), Unfit: kept.unfit, Missing: []string{}, Install: b.Install, Sent: b.Kit() != "serial",
	}
	for _, e := range m.Entries {
		if e.Board == b.Name {
			l.Connect = append(l.Connect, e.ID)
		}
	}
	for _, err := range missing {
		what := err.Error()
		if e := (*hw.Error)(nil); errors.As(err, &e) {
			what = e.What
		}
		l.Missing = append(l.Missing, what)
	}
	return l
}

// ListDoc is a table of boards, and below it what to install.
func ListDoc(all []Listed) report.Doc {
	t := table("board", "chip", "RAM", "flash", "kind", "fits", "connected", "missing here")
	for _, b := range all {
		kind, connected := "real", cmp.Or(strings.Join(b.Connect, " "), "?")
		if b.Emulated {
			kind, connected = "emulated", "-"
		}
		fits := strings.Join(b.Fits, " ")
		switch {
		case fits == "" && len(b.Unfit) > 0:
			fits = "none"
		case fits == "":
			fits = "not tried"
		}
		addRow(&t, b.Name, b.Chip, memory(b.RAM), memory(b.Flash), kind, fits, connected, cmp.Or(strings.Join(b.Missing, "; "), "nothing"))
	}
	d := report.Doc{Blocks: []report.Block{t}}
	if install := toInstall(all); len(install) > 0 {
		d.Blocks = append(d.Blocks, append(report.Note{"What is missing:"}, install...))
	}
	return d
}

// toInstall has a line for each thing to install, with the boards that need it.
func toInstall(all []Listed) (lines []string) {
	var order []string
	names := make(map[string][]string)
	for _, b := range all {
		if len(b.Missing) == 0 {
			continue
		}
		if names[b.Install] == nil {
			order = append(order, b.Install)
		}
		names[b.Install] = append(names[b.Install], b.Name)
	}
	for _, install := range order {
		lines = append(lines, fmt.Sprintf("  %s: install %s", strings.Join(names[install], ", "), install))
	}
	return lines
}

// memory writes a size in bytes: "64 KiB"; a hyphen if there is no limit.
func memory(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// table is a table without rows.
func table(heads ...string) (t report.Table) {
	for _, head := range heads {
		t.Columns = append(t.Columns, report.Column{Head: head})
	}
	return t
}

func addRow(t *report.Table, texts ...string) {
	var row report.Row
	for _, text := range texts {
		row.Cells = append(row.Cells, report.Cell{Text: text})
	}
	t.Rows = append(t.Rows, row)
}
