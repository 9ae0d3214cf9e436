package hw

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DefaultMap is the name of the hardware map in the working directory.
const DefaultMap = "dyno-hardware.yaml"

// A Map says which boards are connected to this machine, and where.
type Map struct {
	Path    string // of the file; "" if there is none
	Entries []Entry
}

// An Entry of a hardware map is one board on the table. Two boards of a kind are
// told apart by their IDs, and found by their ports or USB serial numbers.
type Entry struct {
	// ID is what a person calls the board: "pico-left". No two entries have the
	// same, nor is it the name of another kind of board. It has letters, digits, dots,
	// hyphens and underscores.
	ID string `yaml:"id"`
	// Board is the name of its kind, as in the registry.
	Board string `yaml:"board"`
	// Port is the path of its serial port. It may change when a board is connected
	// anew, so USBSerial is surer.
	Port string `yaml:"port"`
	// USBSerial is the serial number that its USB device tells: the port is the one
	// that has it, whatever its path.
	USBSerial string `yaml:"usb-serial"`
	// Probe is what TinyGo's -programmer takes, for boards that are flashed by a
	// debug probe: "jlink", "cmsis-dap".
	Probe string `yaml:"probe"`
	// SSH is where a Linux board is: "user@host", or a name in ssh's configuration.
	SSH string `yaml:"ssh"`

	line int
}

// yamlMap is a hardware map as the file has it.
type yamlMap struct {
	Boards []yaml.Node `yaml:"boards"`
}

// ReadMap reads the hardware map at path. An empty path means DefaultMap in the
// working directory, which need not be there: without one the Map is empty. The
// error has all faults, each with its line.
func ReadMap(path string, boards Registry) (*Map, error) {
	name := path
	if name == "" {
		name = DefaultMap
	}
	data, err := os.ReadFile(name)
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		return new(Map), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the hardware map: %w", err)
	}
	m, err := parseMap(data, boards)
	if err != nil {
		var lines []error
		for _, e := range each(err) {
			lines = append(lines, fmt.Errorf("%s:%w", name, e))
		}
		return nil, errors.Join(lines...)
	}
	m.Path = name
	return m, nil
}

// parseMap reads a hardware map. Each line of the error is a fault, and begins with
// the number of its line.
func parseMap(data []byte, boards Registry) (*Map, error) {
	var file yamlMap
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlFaults(err)
	}
	m := new(Map)
	var faults []error
	for _, node := range file.Boards {
		e, err := decodeEntry(&node)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		for _, what := range m.faults(e, boards) {
			faults = append(faults, fmt.Errorf("%d: %s", e.line, what))
		}
		m.Entries = append(m.Entries, e)
	}
	return m, errors.Join(faults...)
}

// yamlFaults takes an error of the decoder apart: one line a fault, beginning with
// its number.
func yamlFaults(err error) error {
	var several *yaml.TypeError
	texts := []string{err.Error()}
	if errors.As(err, &several) {
		texts = several.Errors
	}
	var faults []error
	for _, text := range texts {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "yaml: "), "line ")
		text = strings.ReplaceAll(text, " in type hw.yamlMap", "; the file has a list \"boards\"")
		faults = append(faults, errors.New(text))
	}
	return errors.Join(faults...)
}

// entryKeys are the keys of an entry.
var entryKeys = []string{"id", "board", "port", "usb-serial", "probe", "ssh"}

// decodeEntry reads an entry. Node.Decode takes unknown keys silently, so they are
// looked for here.
func decodeEntry(node *yaml.Node) (Entry, error) {
	if node.Kind != yaml.MappingNode {
		return Entry{}, fmt.Errorf("%d: an entry has the form \"- id: …\", with further keys below it", node.Line)
	}
	for i := 0; i < len(node.Content); i += 2 {
		if key := node.Content[i]; !slices.Contains(entryKeys, key.Value) {
			return Entry{}, fmt.Errorf("%d: unknown key %q; %s", key.Line, key.Value, suggest(key.Value, entryKeys, "the keys are"))
		}
	}
	e := Entry{line: node.Line}
	if err := node.Decode(&e); err != nil {
		return Entry{}, each(yamlFaults(err))[0]
	}
	return e, nil
}

// validID are the IDs that can be typed and are good names of folders: results are kept
// in one of that name.
var validID = regexp.MustCompile(`^[\pL\pN][\pL\pM\pN._-]*$`)

// faults says what is wrong with e, which is not yet among m's entries.
func (m *Map) faults(e Entry, boards Registry) []string {
	var all []string
	fault := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch {
	case e.ID == "":
		fault("the entry has no id")
	case !validID.MatchString(e.ID):
		fault("id %q: an id has letters, digits, dots, hyphens and underscores, and begins with a letter or digit", e.ID)
	case e.ID != e.Board && slices.Contains(boards.Names(), e.ID):
		fault("id %q is the name of another kind of board", e.ID)
	}
	for _, o := range m.Entries {
		if e.ID != "" && o.ID == e.ID {
			fault("id %q is that of the entry in line %d too", e.ID, o.line)
		}
		if e.Port != "" && o.Port == e.Port {
			fault("port %s is that of %q too, in line %d: two boards have two ports", e.Port, o.ID, o.line)
		}
		if e.USBSerial != "" && o.USBSerial == e.USBSerial {
			fault("usb-serial %s is that of %q too, in line %d", e.USBSerial, o.ID, o.line)
		}
	}
	if e.Board == "" {
		fault("the entry has no board")
		return all
	}
	b, err := boards.Find(e.Board)
	if err != nil {
		fault("%v", err)
		return all
	}
	switch b.Kit() {
	case "emulator":
		fault("%s is an emulator, which is not connected: leave it out", b.Name)
	case "ssh":
		if e.SSH == "" {
			fault("%s is reached by ssh, and the entry does not say where: ssh: user@host", b.Name)
		}
		if strings.HasPrefix(e.SSH, "-") {
			fault("ssh: %q begins with a hyphen", e.SSH)
		}
		if e.Port != "" || e.USBSerial != "" || e.Probe != "" {
			fault("%s is reached by ssh, which has no port, usb-serial or probe", b.Name)
		}
	default:
		if e.SSH != "" {
			fault("%s is reached by a serial port, and not by ssh", b.Name)
		}
	}
	return all
}

// A Device is one board that an image can be run on: an emulator, or one that is on
// the table.
type Device struct {
	Board Board
	// Entry says where the board is. Of an emulator, and of a board that is found by
	// its USB ID without a hardware map, only ID and Board are set, to the board's
	// name.
	Entry Entry
}

// Device finds what name means: the ID of an entry of m, or the name of a board that
// is emulated, has a single entry, or has none and is found by its USB ID later.
func (r Registry) Device(name string, m *Map) (Device, error) {
	var ids, of []string
	var found []Entry
	for _, e := range m.Entries {
		ids = append(ids, e.ID)
		if e.ID == name {
			found = []Entry{e}
			break
		}
		if e.Board == name {
			found = append(found, e)
			of = append(of, e.ID)
		}
	}
	if len(found) > 1 {
		return Device{}, fmt.Errorf("%d boards of the hardware map are a %s: say which, %s", len(found), name, strings.Join(of, " or "))
	}
	if len(found) == 1 {
		b, err := r.Find(found[0].Board)
		return Device{Board: b, Entry: found[0]}, err
	}
	b, err := r.Find(name)
	if err != nil {
		return Device{}, fmt.Errorf("no board %q, and no such id in the hardware map; %s", name, suggest(name, append(r.Names(), ids...), "there are"))
	}
	if b.Kit() == "ssh" {
		return Device{}, failedBut(NoConsole, fmt.Sprintf("nothing says where the board %s is", b.Name),
			fmt.Sprintf("write an entry into %s: board: %s, with an id and ssh: user@host", mapName(m), b.Name))
	}
	return Device{Board: b, Entry: Entry{ID: b.Name, Board: b.Name}}, nil
}

// mapName returns the path of the map, or where it would be.
func mapName(m *Map) string {
	if m.Path == "" {
		return DefaultMap
	}
	return m.Path
}
