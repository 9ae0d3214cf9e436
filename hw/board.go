package hw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/dynolab/dyno/hw/boards"
)

// Kind says what compiles a board's firmware.
type Kind string

// The kinds of boards.
const (
	kindTinyGo Kind = "tinygo" // a microcontroller, or an emulated one
	kindGo     Kind = "go"     // a Linux system, by ordinary cross-compilation
)

// A Board is what a board.json says: what the host needs to know of a kind of board.
// What runs on the board is the Go package in the same folder.
type Board struct {
	// Name is that of the folder in hw/boards: lower case letters, digits and
	// hyphens.
	Name string `json:"name"`
	// Title is what people call it.
	Title string `json:"title"`
	// Chip is the microcontroller, or the architecture of a Linux board, as the
	// firmware says it too.
	Chip string `json:"chip"`

	Kind Kind `json:"kind"`
	// Target is TinyGo's name for the board; for kindTinyGo only.
	Target string `json:"target,omitempty"`
	// GOOS, GOARCH and GOARM are Go's names for it; for kindGo only. GOARM may be
	// empty.
	GOOS   string `json:"goos,omitempty"`
	GOARCH string `json:"goarch,omitempty"`
	GOARM  string `json:"goarm,omitempty"`

	// RAM and Flash are the limits of an image, in bytes. 0 means none, which only a
	// Linux board may have.
	RAM   int64 `json:"ram"`
	Flash int64 `json:"flash"`

	// Stack is the size of a goroutine's stack, such as "1KB"; GC, Scheduler and Opt
	// are TinyGo's flags of these names. Empty means TinyGo's default for the target.
	Stack     string `json:"stack,omitempty"`
	GC        string `json:"gc,omitempty"`
	Scheduler string `json:"scheduler,omitempty"`
	Opt       string `json:"opt,omitempty"`
	// Flags are further ones for the build. A path in them begins at the folder of the
	// image, in which the folder dyno is the copy of the checkout: a board with a linker
	// script of its own has -target=dyno/hw/boards/<name>/target.json.
	Flags []string `json:"flags,omitempty"`

	// Emulated: the board's time is not that of a real one. Its figures are never
	// ranked against real ones.
	Emulated bool `json:"emulated"`
	// Emulator is the command that runs the image on this machine, with "{image}" for
	// its path; the firmware's console is its standard input and output. Empty for a
	// real board.
	Emulator []string `json:"emulator,omitempty"`
	// SSH: the image is brought to the board and run there by ssh.
	SSH bool `json:"ssh,omitempty"`
	// USB has the vendor and product IDs that the board's port may have: by them it
	// is found without a hardware map, if it is the only one.
	USB []USBID `json:"usb,omitempty"`
	// Baud is the rate of the serial port; 0 means 115200.
	Baud int `json:"baud,omitempty"`
	// FlashNeeds is what a person has to do so that the board can be flashed; empty
	// if nothing.
	FlashNeeds string `json:"flash-needs,omitempty"`

	// Install says in a sentence what a user must install for this board.
	Install string `json:"install"`
}

// A USBID tells a kind of USB device: vendor and product, four hexadecimal digits
// each.
type USBID struct {
	VID string `json:"vid"`
	PID string `json:"pid"`
}

// String returns the ID as "2e8a:000a".
func (u USBID) String() string { return strings.ToLower(u.VID + ":" + u.PID) }

// BaudRate returns the rate of the serial port.
func (b *Board) BaudRate() int {
	if b.Baud == 0 {
		return 115200
	}
	return b.Baud
}

// Kit says in a word how the board is reached: "emulator", "ssh" or "serial".
func (b *Board) Kit() string {
	switch {
	case len(b.Emulator) > 0:
		return "emulator"
	case b.SSH:
		return "ssh"
	}
	return "serial"
}

// A Registry is a list of boards, sorted by name.
type Registry []Board

// Boards returns the boards of this program: those of hw/boards. It is an error of
// the tree if one of them is not valid.
func Boards() (Registry, error) { return readBoards(boards.FS) }

// readBoards reads the board.json of each folder of fsys. The error has all faults
// of all boards, a line each; the boards without a fault are returned all the same.
func readBoards(fsys fs.FS) (Registry, error) {
	files, err := fs.Glob(fsys, "*/board.json")
	if err != nil {
		return nil, err
	}
	var all Registry
	var faults []error
	for _, file := range files { // fs.Glob sorts
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		b, err := parseBoard(data)
		if err == nil && b.Name != path.Dir(file) {
			err = fmt.Errorf("name is %q, and the folder %q: they are the same for every board", b.Name, path.Dir(file))
		}
		if err != nil {
			for _, e := range each(err) {
				faults = append(faults, fmt.Errorf("%s: %w", file, e))
			}
			continue
		}
		all = append(all, b)
	}
	return all, errors.Join(faults...)
}

// each takes a joined error apart.
func each(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// Find returns the board with this name. The error names the nearest ones.
func (r Registry) Find(name string) (Board, error) {
	for _, b := range r {
		if b.Name == name {
			return b, nil
		}
	}
	names := r.Names()
	return Board{}, fmt.Errorf("no board %q; %s", name, suggest(name, names, "the boards are"))
}

// Names returns the names of all boards.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, b := range r {
		names[i] = b.Name
	}
	return names
}

// suggest says which of the known names may have been meant, or which there are.
func suggest(name string, known []string, are string) string {
	var near []string
	for _, k := range known {
		if name != "" && (strings.Contains(k, name) || levenshtein.ComputeDistance(name, k) <= 1+len(k)/4) {
			near = append(near, strconv.Quote(k))
		}
	}
	switch {
	case len(near) > 0:
		return "did you mean " + strings.Join(near, " or ") + "?"
	case len(known) == 0:
		return "there are none"
	}
	return are + " " + strings.Join(known, ", ")
}

// parseBoard reads a board.json. The error has all its faults, a line each.
func parseBoard(data []byte) (Board, error) {
	var b Board
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		if strings.HasSuffix(err.Error(), `"fits"`) || strings.HasSuffix(err.Error(), `"unfit"`) {
			err = fmt.Errorf("%w: delete it; which implementations fit is found by benchrun board run, and kept in its results", err)
		}
		return b, fmt.Errorf("%s%w", lineOf(data, dec.InputOffset(), err), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return b, errors.New("there is something behind the board's closing brace")
	}
	return b, errors.Join(b.faults()...)
}

// lineOf says in which line of data decoding ended; "" if that is not known.
func lineOf(data []byte, offset int64, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset <= 0 || offset > int64(len(data)) {
		return ""
	}
	return "line " + strconv.Itoa(1+bytes.Count(data[:offset], []byte("\n"))) + ": "
}

var (
	validName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	validUSB  = regexp.MustCompile(`^[0-9a-fA-F]{4}$`)
	// What TinyGo 0.33 to 0.41 take.
	tinygoGC         = []string{"none", "leaking", "conservative", "precise"}
	tinygoSchedulers = []string{"none", "tasks", "asyncify", "cores"}
	tinygoOpt        = []string{"0", "1", "2", "s", "z"}
)

// faults says what is wrong with the board.
func (b *Board) faults() []error {
	var all []error
	fault := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if b.Name != "" && !validName.MatchString(b.Name) {
		fault("\"name\" is %q: a name has lower case letters, digits and single hyphens", b.Name)
	}
	if b.Kind != kindTinyGo && b.Kind != kindGo {
		fault("\"kind\" is %q, not %q or %q", b.Kind, kindTinyGo, kindGo)
	}
	for _, f := range []struct {
		name, value string
		of          Kind // the only kind that it is for; "" for both
		required    bool
		values      []string // that it may have; nil for any
	}{
		{"name", b.Name, "", true, nil},
		{"title", b.Title, "", true, nil},
		{"chip", b.Chip, "", true, nil},
		{"install", b.Install, "", true, nil},
		{"target", b.Target, kindTinyGo, true, nil},
		{"stack", b.Stack, kindTinyGo, false, nil},
		{"gc", b.GC, kindTinyGo, false, tinygoGC},
		{"scheduler", b.Scheduler, kindTinyGo, false, tinygoSchedulers},
		{"opt", b.Opt, kindTinyGo, false, tinygoOpt},
		{"goos", b.GOOS, kindGo, true, nil},
		{"goarch", b.GOARCH, kindGo, true, nil},
		{"goarm", b.GOARM, kindGo, false, nil},
	} {
		missing := strings.TrimSpace(f.value) == ""
		switch {
		case f.required && missing && (f.of == "" || f.of == b.Kind):
			fault("%q is missing", f.name)
		case missing:
		case f.of == kindTinyGo && b.Kind == kindGo, f.of == kindGo && b.Kind == kindTinyGo:
			fault("%q means nothing to a board of kind %q", f.name, b.Kind)
		case f.values != nil && !slices.Contains(f.values, f.value):
			fault("%q is %q, not one of %s", f.name, f.value, strings.Join(f.values, ", "))
		}
	}
	switch least := min(b.RAM, b.Flash); {
	case b.Kind == kindTinyGo && least <= 0:
		fault("\"ram\" and \"flash\" are the limits of an image in bytes, and more than 0 for a microcontroller")
	case least < 0:
		fault("\"ram\" and \"flash\" are the limits of an image in bytes, or 0 for none")
	}
	if b.Kind == kindGo && len(b.Emulator) == 0 && !b.SSH {
		fault("a board of kind %q is run by an \"emulator\" or by \"ssh\"", b.Kind)
	}
	if b.Stack != "" && !validSize.MatchString(b.Stack) {
		fault("\"stack\" is %q, not a size such as \"1KB\" or \"512B\"", b.Stack)
	}
	if len(b.Emulator) > 0 {
		switch {
		case !slices.ContainsFunc(b.Emulator, func(arg string) bool { return strings.Contains(arg, "{image}") }):
			fault("\"emulator\" lacks {image}, where the path of the image goes")
		case b.SSH:
			fault("\"emulator\" and \"ssh\" are two ways to run an image: a board has one")
		}
	}
	if b.Emulated && len(b.Emulator) == 0 && !b.SSH {
		fault("\"emulated\" is true, and there is no \"emulator\"")
	}
	for _, u := range b.USB {
		if !validUSB.MatchString(u.VID) || !validUSB.MatchString(u.PID) {
			fault("\"usb\" has the ID %s: vid and pid are four hexadecimal digits each", u)
		}
	}
	if b.Baud < 0 {
		fault("\"baud\" is %d", b.Baud)
	}
	return all
}

// validSize is a size as TinyGo's -stack-size has it: "512B", "2KB", "1MB", or bytes
// without a unit.
var validSize = regexp.MustCompile(`^(?i)0*[1-9][0-9]* *([km]?b)?$`)
