package hw

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// A valid board of each kind.
const (
	validTinyGo = `{
	"name": "toy", "title": "Toy", "chip": "t1", "kind": "tinygo", "target": "toy-target",
	"ram": 65536, "flash": 262144, "stack": "1KB", "gc": "conservative", "scheduler": "tasks", "opt": "2",
	"emulated": true, "emulator": ["toy-emulator", "{image}"],
	"install": "TinyGo and toys"
}`
	validGo = `{
	"name": "toy-linux", "title": "Toy with Linux", "chip": "arm64", "kind": "go", "goos": "linux", "goarch": "arm64",
	"ram": 0, "flash": 0, "emulated": false, "ssh": true, "install": "ssh"
}`
)

// TestBoards: each folder of hw/boards that is a board has a board.json without a fault.
func TestBoards(t *testing.T) {
	all, err := Boards()
	if err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir("boards")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// Packages that boards share are no boards.
		if !e.IsDir() || e.Name() == "internal" {
			continue
		}
		if !slices.Contains(all.Names(), e.Name()) {
			t.Errorf("hw/boards/%s has no valid board.json", e.Name())
		}
	}
}

func TestParseBoard(t *testing.T) {
	for _, valid := range []string{validTinyGo, validGo} {
		if _, err := parseBoard([]byte(valid)); err != nil {
			t.Errorf("%v in %s", err, valid)
		}
	}
	for _, tt := range []struct {
		name, from, old, new string
		want                 []string // substrings of the error's lines, in order
	}{
		{"unknown field", validTinyGo, `"opt"`, `"optimise"`, []string{`unknown field "optimise"`}},
		{"wrong type says the line", validTinyGo, `"ram": 65536`, `"ram": "64KB"`, []string{"line 3: "}},
		{"not JSON says the line", validTinyGo, `"emulated": true,`, `"emulated": true`, []string{"line 4: "}},
		{"rest", validGo, `"ssh"
}`, `"ssh"
} {}`, []string{"closing brace"}},
		{"several faults", validTinyGo, `"title": "Toy", "chip": "t1", "kind": "tinygo", "target": "toy-target"`, `"kind": "tinygo"`, []string{`"title"`, `"chip"`, `"target"`}},
		{"bad name", validTinyGo, `"toy"`, `"Toy 1"`, []string{`"Toy 1"`}},
		{"unknown kind", validTinyGo, `"tinygo"`, `"rust"`, []string{`"rust"`}},
		{"Go's names of a microcontroller", validTinyGo, `"target"`, `"goos": "linux", "target"`, []string{`"goos" means nothing`}},
		{"no limits", validTinyGo, `65536`, `0`, []string{`"ram"`}},
		{"stack", validTinyGo, `1KB`, `1 cup`, []string{`"1 cup"`}},
		{"gc", validTinyGo, `conservative`, `liberal`, []string{`"liberal"`}},
		{"no image", validTinyGo, `{image}`, `image`, []string{"{image}"}},
		{"emulated without", validTinyGo, `"emulator": ["toy-emulator", "{image}"],`, ``, []string{`"emulator"`}},
		{"two ways", validTinyGo, `"emulated": true`, `"ssh": true, "emulated": true`, []string{"two ways"}},
		{"rest that is no JSON", validGo, `"ssh"
}`, `"ssh"
} x`, []string{"closing brace"}},
		{"no way", validGo, `"ssh": true,`, ``, []string{`"ssh"`}},
		{"target of Linux", validGo, `"goos"`, `"target": "x", "goos"`, []string{`"target" means nothing`}},
		{"usb", validTinyGo, `"install"`, `"usb": [{"vid": "2e8a", "pid": "xyz"}], "install"`, []string{"2e8a:xyz"}},
		{"vendor", validTinyGo, `"install"`, `"usb": [{"vid": "2e8", "pid": "000a"}], "install"`, []string{"2e8:000a"}},
		{"rate", validTinyGo, `"install"`, `"baud": -1, "install"`, []string{`"baud" is -1`}},
		{"negative limit", validGo, `"ssh"`, `"ram": -1, "ssh"`, []string{`"ram"`}},
		{"what fits", validTinyGo, `"install"`, `"fits": ["serial"], "install"`, []string{`unknown field "fits": delete it; which implementations fit is found by benchrun board run`}},
		{"what does not fit", validGo, `"install"`, `"unfit": {"channel": "small"}, "install"`, []string{`unknown field "unfit": delete it`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(tt.from, tt.old, tt.new, 1)
			if text == tt.from {
				t.Fatalf("%q is not in the valid board", tt.old)
			}
			_, err := parseBoard([]byte(text))
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d faults, want %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("fault %q does not mention %s", lines[i], want)
				}
			}
		})
	}
}

// TestReadBoards: the faults of all boards are told at once, each with its file, and
// the boards without one are there.
func TestReadBoards(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	all, err := readBoards(fstest.MapFS{
		"toy/board.json":       file(validTinyGo),
		"toy-linux/board.json": file(strings.Replace(validGo, `"goos": "linux", `, "", 1)),
		"other/board.json":     file(validTinyGo),
		"to/board.json":        file(validTinyGo),
		"shared/code.go":       file("package shared"),
	})
	if got := strings.Join(all.Names(), " "); got != "toy" {
		t.Errorf("boards: %q", got)
	}
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`other/board.json: name is "toy"`, `to/board.json: name is "toy"`, `toy-linux/board.json: "goos" is missing`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
}

func TestFind(t *testing.T) {
	all := Registry{{Name: "cortex-m3-qemu"}, {Name: "pico"}, {Name: "pico2"}}
	if b, err := all.Find("pico"); err != nil || b.Name != "pico" {
		t.Errorf("pico: %q, %v", b.Name, err)
	}
	for name, want := range map[string]string{
		"picco":  `did you mean "pico" or "pico2"?`,
		"cortex": `did you mean "cortex-m3-qemu"?`,
		"teensy": "the boards are cortex-m3-qemu, pico, pico2",
		"":       "the boards are",
	} {
		if _, err := all.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestValidSize(t *testing.T) {
	for text, want := range map[string]bool{"512B": true, "512": true, "1KB": true, "2 kb": true, "1MB": true, "": false, "0": false, "-1": false, "1GB": false, "B": false, "1.5KB": false} {
		if got := validSize.MatchString(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestOutcomes: each outcome has a name and an exit status of its own, and all but OK
// a hint.
func TestOutcomes(t *testing.T) {
	names, codes := make(map[string]Outcome), make(map[int]Outcome)
	for _, o := range Outcomes() {
		if o.String() == "" || strings.HasPrefix(o.String(), "Outcome(") {
			t.Errorf("outcome %d has no name", int(o))
		}
		if other, twice := names[o.String()]; twice {
			t.Errorf("%d and %d are both called %q", other, o, o)
		}
		if other, twice := codes[o.ExitCode()]; twice {
			t.Errorf("%v and %v have both the exit status %d", other, o, o.ExitCode())
		}
		names[o.String()], codes[o.ExitCode()] = o, o
		if (o.Hint() == "") != (o == OK) {
			t.Errorf("%v has the hint %q", o, o.Hint())
		}
		if o != OK && o.ExitCode() < 10 {
			t.Errorf("%v has the exit status %d of other commands", o, o.ExitCode())
		}
	}
	if len(names) != int(WrongResult)+1 {
		t.Errorf("%d outcomes", len(names))
	}
}
