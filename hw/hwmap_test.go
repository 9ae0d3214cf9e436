package hw

import (
	"path/filepath"
	"strings"
	"testing"
)

// kinds are the boards that the tests of maps know.
var kinds = Registry{
	{Name: "emu", Emulator: []string{"emu", "{image}"}},
	{Name: "far", Kind: kindGo, SSH: true},
	{Name: "pico", Kind: kindTinyGo, USB: []USBID{{"2e8a", "000a"}}},
}

func TestParseMap(t *testing.T) {
	m, err := parseMap([]byte(`# two equal boards, told apart by what their USB devices say
boards:
  - id: left
    board: pico
    usb-serial: E6614C311B5A2F2A
  - id: right
    board: pico
    port: /dev/ttyACM1
    probe: cmsis-dap
  - id: attic
    board: far
    ssh: pi@attic
`), kinds)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"left": "left", "right": "right", "attic": "attic", "far": "attic", "emu": "emu"} {
		d, err := kinds.Device(name, m)
		if err != nil || d.Entry.ID != want {
			t.Errorf("%s: %q, %v", name, d.Entry.ID, err)
		}
	}
	if d, _ := kinds.Device("right", m); d.Board.Name != "pico" || d.Entry.Port != "/dev/ttyACM1" || d.Entry.Probe != "cmsis-dap" {
		t.Errorf("right is %+v", d)
	}
	if _, err := kinds.Device("pico", m); err == nil || !strings.Contains(err.Error(), "left or right") {
		t.Errorf("pico: %v", err)
	}
	if _, err := kinds.Device("rihgt", m); err == nil || !strings.Contains(err.Error(), `"right"`) {
		t.Errorf("a mistyped id: %v", err)
	}
	// An id may be the name of its own kind, and is that entry then.
	m, err = parseMap([]byte("boards:\n  - {id: left, board: pico}\n  - {id: pico, board: pico}\n"), kinds)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := kinds.Device("pico", m); err != nil || d.Entry.ID != "pico" {
		t.Errorf("pico: %+v, %v", d, err)
	}
	// Without an entry a board with a port is found by its USB ID, one by ssh is not.
	if d, err := kinds.Device("pico", new(Map)); err != nil || d.Entry.ID != "pico" {
		t.Errorf("pico without a map: %+v, %v", d, err)
	}
	if _, err := kinds.Device("far", new(Map)); err == nil || !outcomeIs(err, NoConsole) {
		t.Errorf("far without a map: %v", err)
	}
}

func TestMapFaults(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"not YAML", "boards:\n  - id: [\n", "2: "},
		{"not a list", "boards: pico\n", "1:"},
		{"another key", "board:\n  - id: a\n", "1: field board not found"},
		{"an entry that is none", "boards:\n  - pico\n", "2: an entry has the form"},
		{"unknown key", "boards:\n  - id: a\n    bord: pico\n", `3: unknown key "bord"; did you mean "board"`},
		{"wrong type", "boards:\n  - id: a\n    board: [pico]\n", "3: "},
		{"no id", "boards:\n  - board: pico\n", "2: the entry has no id"},
		{"id with a space", "boards:\n  - {id: a b, board: pico}\n", `2: id "a b": an id has letters`},
		{"id that is a folder above", "boards:\n  - {id: .., board: pico}\n", `2: id "..": `},
		{"id that is a path", `boards: [{id: "a\\b", board: pico}]`, `1: id "a\\b": `},
		{"id that is a flag", "boards:\n  - {id: -a, board: pico}\n", `2: id "-a": `},
		{"id with a control character", `boards: [{id: "a\e[2J", board: pico}]`, `1: id "a\x1b[2J": `},
		{"id of a board", "boards:\n  - id: far\n    board: pico\n", `2: id "far" is the name of another kind`},
		{"id twice", "boards:\n  - id: a\n    board: pico\n  - id: a\n    board: pico\n", `4: id "a" is that of the entry in line 2`},
		{"id twice, of two kinds", "boards:\n  - {id: a, board: pico}\n  - {id: a, board: far, ssh: pi}\n", `3: id "a" is that of the entry in line 2`},
		{"port twice", "boards:\n  - {id: a, board: pico, port: COM3}\n  - {id: b, board: pico, port: COM3}\n", `3: port COM3 is that of "a" too`},
		{"usb-serial twice", "boards:\n  - {id: a, board: pico, usb-serial: X}\n  - {id: b, board: pico, usb-serial: X}\n", `3: usb-serial X`},
		{"no board", "boards:\n  - id: a\n", "2: the entry has no board"},
		{"unknown board", "boards:\n  - id: a\n    board: picco\n", `2: no board "picco"; did you mean "pico"?`},
		{"emulator", "boards:\n  - id: a\n    board: emu\n", "2: emu is an emulator"},
		{"no ssh", "boards:\n  - id: a\n    board: far\n", "2: far is reached by ssh"},
		{"an option for ssh", "boards:\n  - {id: a, board: far, ssh: -oProxyCommand=x}\n", "begins with a hyphen"},
		{"port of ssh", "boards:\n  - {id: a, board: far, ssh: pi, port: COM3}\n", "2: far is reached by ssh, which has no port"},
		{"probe of ssh", "boards:\n  - {id: a, board: far, ssh: pi, probe: jlink}\n", "2: far is reached by ssh, which has no port"},
		{"ssh of a port", "boards:\n  - {id: a, board: pico, ssh: pi}\n", "2: pico is reached by a serial port"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseMap([]byte(tt.text), kinds)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	// All at once, each with the file and its line.
	path := filepath.Join(t.TempDir(), "map.yaml")
	writeFile(t, path, []byte("boards:\n  - id: a\n  - board: pico\n"))
	_, err := ReadMap(path, kinds)
	want := path + ":2: the entry has no board\n" + path + ":3: the entry has no id"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

// TestReadMap: the map that was asked for has to be there, the default one need not.
func TestReadMap(t *testing.T) {
	t.Chdir(t.TempDir())
	if m, err := ReadMap("", kinds); err != nil || len(m.Entries) > 0 {
		t.Errorf("no map: %+v, %v", m, err)
	}
	if _, err := ReadMap("there-is-none.yaml", kinds); err == nil {
		t.Error("no error although there is no such file")
	}
	writeFile(t, DefaultMap, []byte("boards:\n  - {id: a, board: pico}\n"))
	m, err := ReadMap("", kinds)
	if err != nil || len(m.Entries) != 1 || m.Path != DefaultMap {
		t.Errorf("%+v, %v", m, err)
	}
}
