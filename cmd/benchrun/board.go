package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
)

// boardConfig is what the flags of benchrun board say.
type boardConfig struct {
	impls []string
	parts []string
	hwmap string
}

func newBoardCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "board",
		Short: "Build firmware, flash it, and measure on boards",
		Long: `Board measures on microcontrollers, through TinyGo, and on Linux boards, real and
emulated: the same implementations, workloads and clauses as here, in results
files of the same format. docs/boards.md goes from unpacking a board to the first
report.

What goes wrong with a board has a name, a hint and an exit status; of several the
status is the greatest:

` + outcomeTable("  ") + `
Errors that are not about a board have the status 2, an interrupt 130.`,
		Example: `  benchrun board list
  benchrun board build cortex-m3-qemu --parts bench
  benchrun board run linux-arm64-qemu
  benchrun board run pico --impl serial --case workload=pingpong
  benchrun board monitor pico`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			msg := fmt.Sprintf("unknown command %q of board", args[0])
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("%s; did you mean %q?", msg, near[0])
			}
			return fmt.Errorf("%s; benchrun board --help has the list", msg)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newBoardListCmd(), newBoardBuildCmd(), newBoardFlashCmd(), newBoardRunCmd(), newBoardMonitorCmd())
	return cmd
}

// outcomeTable has each outcome that is not ok with its exit status and what to do.
func outcomeTable(indent string) string {
	var b strings.Builder
	for _, o := range hw.Outcomes() {
		if o != hw.OK {
			fmt.Fprintf(&b, "%s%d  %s\n", indent, o.ExitCode(), o)
		}
	}
	return b.String()
}

// imageFlags are the flags that say what is built.
func (c *boardConfig) imageFlags(cmd *cobra.Command, several bool) {
	f := cmd.Flags()
	what := "the `name` of the implementation (default: serial)"
	if several {
		what = "the `names` of implementations, with commas between (default: all, and one that does not fit is skipped)"
	}
	f.StringSliceVar(&c.impls, "impl", nil, what)
	f.StringSliceVar(&c.parts, "parts", nil, "the `parts` of the firmware, with commas between: "+strings.Join(hw.Parts(), ", ")+", or conform or conform/actor for all below (default: all)")
	_ = cmd.RegisterFlagCompletionFunc("parts", cobra.FixedCompletions(append(hw.Parts(), "conform", "conform/actor"), cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		boards, _ := hw.Boards()
		return boards.Names(), cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *boardConfig) mapFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.hwmap, "map", "", "the hardware map, a `file` (default: "+hw.DefaultMap+" in the working directory, if it is there)")
	_ = cmd.MarkFlagFilename("map", "yaml", "yml")
}

// check returns an error for flags that make no sense, before anything takes time.
func (c *boardConfig) check() error {
	if _, err := hw.SelectParts(c.parts); err != nil {
		return fmt.Errorf("--parts: %w", err)
	}
	return nil
}

// devices finds the boards that are named on the command line.
func (c *boardConfig) devices(names []string) ([]hw.Device, error) {
	boards, err := hw.Boards()
	if err != nil {
		return nil, err
	}
	m, err := hw.ReadMap(c.hwmap, boards)
	if err != nil {
		return nil, err
	}
	var found []hw.Device
	for _, name := range names {
		d, err := boards.Device(name, m)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(found, func(o hw.Device) bool { return o.Entry.ID == d.Entry.ID }) {
			return nil, fmt.Errorf("%s is named twice", name)
		}
		found = append(found, d)
	}
	return found, nil
}

// implementations are those that are asked for by name, each once, or else all.
func (c *boardConfig) implementations(checkout hw.Checkout) ([]string, error) {
	known, err := checkout.Implementations()
	if err != nil || len(c.impls) == 0 {
		return known, err
	}
	var named []string
	for _, name := range c.impls {
		if err := oneOf("--impl", name, known); err != nil {
			return nil, err
		}
		if !slices.Contains(named, name) { // as --parts: two would be the same twice in a block
			named = append(named, name)
		}
	}
	return named, nil
}

// one is the implementation for commands that take a single one.
func (c *boardConfig) one(checkout hw.Checkout) (string, error) {
	if len(c.impls) > 1 {
		return "", fmt.Errorf("--impl has %d names, and a board runs one firmware at a time", len(c.impls))
	}
	impls, err := c.implementations(checkout)
	if err != nil {
		return "", err
	}
	if slices.Contains(impls, "serial") {
		return "serial", nil
	}
	return impls[0], nil
}

// needBoard is the argument check of commands that take boards.
func needBoard(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s needs the name of a board; benchrun board list has them", strings.TrimPrefix(cmd.CommandPath(), "benchrun "))
		case most > 0 && len(args) > most:
			return fmt.Errorf("%s takes one board, and these are %d", strings.TrimPrefix(cmd.CommandPath(), "benchrun "), len(args))
		}
		return nil
	}
}

// tellBoard says what went wrong with a board, and returns its outcome. Errors that are
// not about boards are returned as they are.
func tellBoard(w io.Writer, err error) (hw.Outcome, error) {
	var e *hw.Error
	if !errors.As(err, &e) {
		return hw.OK, err
	}
	fmt.Fprintf(w, "benchrun: %s\n", hw.Printable(e.Error()))
	if e.Output != "" {
		fmt.Fprintln(w, console.Indent(beginning(hw.Printable(e.Output))))
	}
	if hint := e.Hint(); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	return e.Outcome, nil
}

// beginning is as much of what a program has printed as one reads: a compiler that
// crashes prints its whole stack.
func beginning(s string) string {
	const most = 40 // lines; a board's transcript has fewer
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], fmt.Sprintf("… (%d more lines)", len(lines)-most+1))
	}
	return strings.Join(lines, "\n")
}

// exitOutcome is the error that ends the command with an outcome's status; nil if
// that is OK.
func exitOutcome(o hw.Outcome) error {
	if o == hw.OK {
		return nil
	}
	return exitError(o.ExitCode())
}

// listedBoard is a board in list's JSON.
type listedBoard struct {
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
}

func newBoardListCmd() *cobra.Command {
	var c boardConfig
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the boards, and what is missing here for each",
		Long: `List prints the boards that firmware can be built for: chip, RAM and flash, whether
it is real or emulated, which implementations fit, as kept results say, which of the
hardware map are of that kind, and what this machine lacks to build and run it.
What fits is read from the results that the checkout keeps.`,
		Example: `  benchrun board list
  benchrun board list --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("board list takes no arguments: it lists all boards")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--format", format, []string{"text", "json"}); err != nil {
				return err
			}
			boards, err := hw.Boards()
			if err != nil {
				return err
			}
			m, err := hw.ReadMap(c.hwmap, boards)
			if err != nil {
				return err
			}
			var kept map[string]hw.Fits // outside of a checkout none
			if checkout, err := hw.FindCheckout(cmd.Context(), ""); err == nil {
				if kept, err = checkout.KeptFits(); err != nil {
					return err
				}
			}
			all := []listedBoard{}
			for _, b := range boards {
				all = append(all, listBoard(cmd.Context(), b, m, kept[b.Name]))
			}
			if format == "json" {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(all)
			}
			return listBoards(cmd.OutOrStdout(), all)
		},
	}
	c.mapFlag(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "how to print: text, json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func listBoard(ctx context.Context, b hw.Board, m *hw.Map, kept hw.Fits) listedBoard {
	l := listedBoard{
		Name: b.Name, Title: b.Title, Chip: b.Chip, Kind: b.Kind, RAM: b.RAM, Flash: b.Flash, Emulated: b.Emulated,
		Fits: append([]string{}, kept.Fit...), Unfit: kept.Unfit, Missing: []string{}, Install: b.Install,
	}
	for _, e := range m.Entries {
		if e.Board == b.Name {
			l.Connect = append(l.Connect, e.ID)
		}
	}
	if err := hw.Missing(ctx, b); err != nil {
		for _, e := range unjoined(err) {
			what := e.Error()
			var he *hw.Error
			if errors.As(e, &he) {
				what = he.What
			}
			l.Missing = append(l.Missing, what)
		}
	}
	return l
}

// unjoined takes a joined error apart.
func unjoined(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// listBoards writes the boards as a table, and below it what to install.
func listBoards(w io.Writer, all []listedBoard) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "board\tchip\tRAM\tflash\tkind\tfits\tconnected\tmissing here")
	for _, b := range all {
		kind, connected, missing := "real", strings.Join(b.Connect, " "), strings.Join(b.Missing, "; ")
		if b.Emulated {
			kind, connected = "emulated", "-"
		}
		if connected == "" {
			connected = "?"
		}
		if missing == "" {
			missing = "nothing"
		}
		fits := strings.Join(b.Fits, " ")
		switch {
		case fits == "" && len(b.Unfit) > 0:
			fits = "none"
		case fits == "":
			fits = "not tried"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", b.Name, b.Chip, memory(b.RAM), memory(b.Flash), kind, fits, connected, missing)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	told := make(map[string]bool)
	for _, b := range all {
		if len(b.Missing) == 0 || told[b.Install] {
			continue
		}
		if told[b.Install] = true; len(told) == 1 {
			fmt.Fprintln(w, "\nWhat is missing:")
		}
		var names []string
		for _, o := range all {
			if len(o.Missing) > 0 && o.Install == b.Install {
				names = append(names, o.Name)
			}
		}
		fmt.Fprintf(w, "  %s: install %s\n", strings.Join(names, ", "), b.Install)
	}
	return nil
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

// builtImage is an image, or why there is none, in build's JSON.
type builtImage struct {
	Board     string        `json:"board"`
	Impl      string        `json:"implementation"`
	Parts     []string      `json:"parts"`
	Outcome   string        `json:"outcome"`
	Why       string        `json:"why,omitempty"`
	Path      string        `json:"path,omitempty"`
	Toolchain string        `json:"toolchain,omitempty"`
	Flash     *usedJSON     `json:"flash,omitempty"`
	RAM       *usedJSON     `json:"ram,omitempty"`
	Packages  []packageJSON `json:"packages,omitempty"`
}

type usedJSON struct {
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"` // 0: none
}

type packageJSON struct {
	Name   string `json:"name"`
	Code   int64  `json:"code"`
	ROData int64  `json:"rodata"`
	Data   int64  `json:"data"`
	BSS    int64  `json:"bss"`
}

func newBoardBuildCmd() *cobra.Command {
	var (
		c      boardConfig
		out    string
		format string
	)
	cmd := &cobra.Command{
		Use:   "build board...",
		Short: "Build firmware, and show what it needs of flash and RAM",
		Long: `Build compiles the firmware of boards, one image for each implementation, and
prints which package needs how much flash and RAM, and how much of the board is
left. What is larger than the board is an error, with the same table: fewer --parts
need less. --parts conform means all parts of that name, conform/actor those of actors.
Without --impl such an image does not make the command fail, unless all are too big.

--out keeps the images in a folder, as <board>-<implementation>.elf.`,
		Example: `  benchrun board build cortex-m3-qemu --impl serial --parts bench
  benchrun board build cortex-m3-qemu --parts bench --format json
  benchrun board build pico --parts bench --out images`,
		Args: needBoard(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(c.check(), oneOf("--format", format, []string{"text", "json"})); err != nil {
				return err
			}
			return buildBoards(cmd, c, args, out, format == "json")
		},
	}
	c.imageFlags(cmd, true)
	cmd.Flags().StringVar(&out, "out", "", "keep the images in this `folder`")
	cmd.Flags().StringVar(&format, "format", "text", "how to print: text, json")
	_ = cmd.MarkFlagDirname("out")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// buildBoards builds the images of boards. Kinds of boards are meant, so the hardware
// map is not looked at.
func buildBoards(cmd *cobra.Command, c boardConfig, names []string, out string, asJSON bool) error {
	ctx, _, stop := session.Interruptible(cmd.Context(), func() {})
	defer stop()
	w := cmd.ErrOrStderr()
	boards, err := hw.Boards()
	if err != nil {
		return err
	}
	var kinds []hw.Board
	for _, name := range names {
		b, err := boards.Find(name)
		if err != nil {
			return err
		}
		kinds = append(kinds, b)
	}
	checkout, err := hw.FindCheckout(ctx, "")
	if err != nil {
		return err
	}
	if out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
	}
	impls, err := c.implementations(checkout)
	if err != nil {
		return err
	}
	commit := commitOf(ctx, checkout)
	worst, built := hw.OK, 0
	all := []builtImage{}
	for _, b := range kinds {
		compiler, missing := hw.FindCompiler(ctx, b)
		for _, impl := range impls {
			if ctx.Err() != nil {
				fmt.Fprintln(w, "interrupted")
				return exitError(exitInterrupted)
			}
			one := builtImage{Board: b.Name, Impl: impl, Parts: c.parts}
			im, err := (*hw.Image)(nil), missing
			if err == nil {
				fmt.Fprintf(w, "building %s with %s\n", b.Name, impl)
				im, err = buildOne(ctx, b, compiler, hw.BuildOptions{Checkout: checkout, Impl: impl, Parts: c.parts, Commit: commit}, out)
			}
			if ctx.Err() != nil {
				continue // the next round says it
			}
			o := hw.OK
			if err != nil {
				one.Why = hw.Printable(err.Error())
				if o, err = tellBoard(w, err); err != nil {
					return err
				}
			}
			switch {
			case o == hw.OK:
				built++
			case o != hw.TooBig || len(c.impls) > 0:
				worst = max(worst, o)
			}
			one.Outcome = o.String()
			if im != nil {
				one.describe(im, o == hw.OK && out != "")
				if o == hw.OK && !asJSON {
					if err := printImage(cmd.OutOrStdout(), im, one.Path); err != nil {
						return err
					}
				}
			}
			all = append(all, one)
		}
	}
	if ctx.Err() != nil {
		return exitError(exitInterrupted)
	}
	if asJSON {
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(all); err != nil {
			return err
		}
	} else if len(all) > 1 {
		if err := compareImages(cmd.OutOrStdout(), all); err != nil {
			return err
		}
	}
	if worst == hw.OK && built == 0 {
		worst = hw.TooBig
	}
	return exitOutcome(worst)
}

// buildOne builds an image in a folder of its own, and keeps it in out if that is not
// empty: then its path is there.
func buildOne(ctx context.Context, b hw.Board, compiler *hw.Compiler, o hw.BuildOptions, out string) (im *hw.Image, err error) {
	dir, remove, err := imageFolder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	o.Dir = dir
	if im, err = hw.Build(ctx, b, compiler, o); err != nil || out == "" {
		return im, err
	}
	data, err := os.ReadFile(im.Path)
	if err != nil {
		return im, err
	}
	im.Path = filepath.Join(out, b.Name+"-"+im.Impl+".elf")
	return im, os.WriteFile(im.Path, data, 0o755)
}

// imageFolder makes an empty folder for an image. It is one that the next benchrun
// clears away if this one is killed.
func imageFolder() (dir string, remove func() error, err error) {
	folder, err := scratch.New()
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(folder.Path, "image")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", nil, errors.Join(err, folder.Remove())
	}
	return dir, folder.Remove, nil
}

// commitOf is what the firmware says of its sources.
func commitOf(ctx context.Context, checkout hw.Checkout) string {
	return hw.FirmwareCommit(session.Commit(ctx, checkout.Dir, ""))
}

func (b *builtImage) describe(im *hw.Image, kept bool) {
	b.Parts, b.Toolchain = im.Parts, im.Toolchain
	if kept {
		b.Path = im.Path
	}
	if im.Sizes == nil {
		return
	}
	b.Flash = &usedJSON{im.Sizes.Flash(), im.Board.Flash}
	b.RAM = &usedJSON{im.Sizes.RAM(), im.Board.RAM}
	for _, p := range im.Sizes.Packages {
		b.Packages = append(b.Packages, packageJSON(p))
	}
}

// printImage prints the table of an image, and what it leaves of its board.
func printImage(w io.Writer, im *hw.Image, path string) error {
	_, err := fmt.Fprintf(w, "%s with %s, %s, %s\n\n%s\nflash: %s\nRAM:   %s, before anything is allocated\n", im.Board.Name, im.Impl, hw.NameParts(im.Parts),
		im.Toolchain, im.Sizes.Table(), room(im.Sizes.Flash(), im.Board.Flash), room(im.Sizes.RAM(), im.Board.RAM))
	if err == nil && path != "" {
		_, err = fmt.Fprintf(w, "image: %s\n", path)
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}

// room says how much of a limit is used and left.
func room(used, limit int64) string {
	switch {
	case limit == 0:
		return fmt.Sprintf("%d bytes, of which there is no limit", used)
	case used > limit:
		return fmt.Sprintf("%d of %d bytes, %d too many", used, limit, used-limit)
	}
	return fmt.Sprintf("%d of %d bytes, %d left (%d %%)", used, limit, limit-used, 100*(limit-used)/limit)
}

// compareImages prints a line for each image.
func compareImages(w io.Writer, all []builtImage) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "board\timplementation\tflash\tRAM\t")
	for _, b := range all {
		flash, ram := "-", "-"
		if b.Flash != nil {
			flash, ram = room(b.Flash.Used, b.Flash.Limit), room(b.RAM.Used, b.RAM.Limit)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", b.Board, b.Impl, flash, ram, b.Outcome)
	}
	return t.Flush()
}
