package hw

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

func TestPackageOf(t *testing.T) {
	for symbol, want := range map[string]string{
		"github.com/dynolab/dyno/actor.(*System).Spawn":                 "github.com/dynolab/dyno/actor",
		"github.com/dynolab/dyno/actor.NewSystem":                       "github.com/dynolab/dyno/actor",
		"(*github.com/dynolab/dyno/actor.System).Spawn":                 "github.com/dynolab/dyno/actor",
		"(github.com/dynolab/dyno/actor.PID).String":                    "github.com/dynolab/dyno/actor",
		"github.com/dynolab/dyno/hw/firmware.(*monitor).run.func1":      "github.com/dynolab/dyno/hw/firmware",
		"slices.SortFunc[go.shape.[]github.com/dynolab/dyno/actor.PID]": "slices",
		"slices.SortFunc[[]github.com/dynolab/dyno/actor.PID]":          "slices",
		"main.main$1":       "main",
		"unicode$alloc.371": "unicode",
		"github.com/dynolab/dyno/conformance$alloc": "github.com/dynolab/dyno/conformance",
		"runtime.alloc":                        "runtime",
		"(*internal/task.Queue).Push":          "internal/task",
		"gopkg.in/yaml%2ev3.Unmarshal":         "gopkg.in/yaml.v3",
		"device/arm.SVCall0":                   "device/arm",
		"memcpy":                               otherSize,
		"__aeabi_memcpy":                       otherSize,
		"_start":                               otherSize,
		"type:.eq.runtime.g":                   typesSize,
		"go:itab.*os.File,io.Reader":           typesSize,
		"reflect/types.type:pointer:basic:int": typesSize,
		"interface:{Foo:func:{}{}}.Foo$invoke": typesSize,
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s: %q, want %q", symbol, got, want)
		}
	}
}

// TestReadSizes: all that is loaded is counted once, in the right memory, and what has
// a symbol goes to its package.
func TestReadSizes(t *testing.T) {
	path := elfFile(t)
	s, err := readSizes(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var flash, ram int64
	for _, section := range f.Sections {
		if section.Flags&elf.SHF_ALLOC == 0 || section.Flags&elf.SHF_TLS != 0 {
			continue
		}
		if section.Type != elf.SHT_NOBITS {
			flash += int64(section.Size)
		}
		if section.Flags&elf.SHF_WRITE != 0 {
			ram += int64(section.Size)
		}
	}
	if s.Flash() != flash || s.RAM() != ram {
		t.Errorf("flash %d and RAM %d, of sections %d and %d", s.Flash(), s.RAM(), flash, ram)
	}
	sizes := make(map[string]PackageSize)
	for i, p := range s.Packages {
		sizes[p.Name] = p
		if i > 0 && p.Flash() > s.Packages[i-1].Flash() {
			t.Errorf("%s stands behind the smaller %s", p.Name, s.Packages[i-1].Name)
		}
	}
	// The program has a table of 4,000 bytes and 5,000 zeros of its own.
	if m := sizes["main"]; m.Code == 0 || m.Data < 4000 || m.Data > 5000 || m.BSS < 5000 || m.BSS > 6000 {
		t.Errorf("main: %+v", m)
	}
	if r := sizes["runtime"]; r.Code < 100_000 {
		t.Errorf("runtime: %+v", r)
	}
	if c := sizes["strconv"]; c.Code == 0 || c.Code > 20_000 {
		t.Errorf("strconv: %+v", c)
	}
	table := s.Table()
	if lines := strings.Count(table, "\n"); lines != len(s.Packages)+2 {
		t.Errorf("%d lines for %d packages:\n%s", lines, len(s.Packages), table)
	}
}

// TestReadSizesOfESP: the scripts by which TinyGo links for ESP32 chips have sections that
// only move the next one to its address, and code that runs in RAM. The chips see one
// memory at two addresses, so what has a size is not always memory.
func TestReadSizesOfESP(t *testing.T) {
	const a, w, x = uint32(elf.SHF_ALLOC), uint32(elf.SHF_WRITE), uint32(elf.SHF_EXECINSTR)
	s, err := readSizes(elfOf(t, []elfSection{
		{".rodata_dummy", elf.SHT_NOBITS, a, 0x20},
		{".rodata", elf.SHT_PROGBITS, a, 0x100},
		{".stack", elf.SHT_NOBITS, a, 0x1000},
		{".stack1", elf.SHT_NOBITS, a | w, 0x800},
		{".bss", elf.SHT_NOBITS, a | w, 0x200},
		{".data", elf.SHT_PROGBITS, a | w, 0x40},
		{".iram_dummy", elf.SHT_NOBITS, a | w, 0x1240},
		{".iram", elf.SHT_PROGBITS, a | x, 0x60},
		{".text_dummy", elf.SHT_NOBITS, a, 0x500},
		{".text", elf.SHT_PROGBITS, a | x, 0x300},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Flash(), int64(0x100+0x40+0x60+0x300); got != want {
		t.Errorf("flash %#x, want %#x", got, want)
	}
	if got, want := s.RAM(), int64(0x1000+0x800+0x200+0x40+0x60); got != want || s.Stack != 0x1800 {
		t.Errorf("RAM %#x with stacks of %#x, want %#x with 0x1800\n%s", got, s.Stack, want, s.Table())
	}
}

// An elfSection is a section of an ELF file that a test makes.
type elfSection struct {
	name  string
	typ   elf.SectionType
	flags uint32
	size  uint32
}

// elfOf writes an ELF file for RISC-V with these sections, filled with zeros, and
// returns its path.
func elfOf(t *testing.T, sections []elfSection) string {
	t.Helper()
	const header, entry = 52, 40
	sections = append(append([]elfSection{{}}, sections...), elfSection{name: ".shstrtab", typ: elf.SHT_STRTAB})
	var names, data, table bytes.Buffer
	for _, s := range sections {
		names.WriteString(s.name + "\x00")
	}
	at := uint32(0)
	for i, s := range sections {
		sh := elf.Section32{Name: at, Type: uint32(s.typ), Flags: s.flags, Off: uint32(header + data.Len()), Size: s.size}
		at += uint32(len(s.name)) + 1
		switch {
		case i == len(sections)-1:
			sh.Size = uint32(names.Len())
			data.Write(names.Bytes())
		case s.typ != elf.SHT_NOBITS:
			data.Write(make([]byte, s.size))
		}
		if err := binary.Write(&table, binary.LittleEndian, sh); err != nil {
			t.Fatal(err)
		}
	}
	h := elf.Header32{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: uint32(elf.EV_CURRENT),
		Shoff: uint32(header + data.Len()), Ehsize: header, Shentsize: entry, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1),
	}
	var file bytes.Buffer
	if err := binary.Write(&file, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	file.Write(data.Bytes())
	file.Write(table.Bytes())
	path := filepath.Join(t.TempDir(), "image.elf")
	writeFile(t, path, file.Bytes())
	return path
}

// TestShares: two names for one function do not make it larger, nor do symbols that
// reach beyond their section.
func TestShares(t *testing.T) {
	sym := func(name string, at, size uint64) elf.Symbol { return elf.Symbol{Name: name, Value: at, Size: size} }
	got := shares(100, 50, []elf.Symbol{
		sym("b.F", 120, 10), sym("alias", 120, 10), sym("c.G", 125, 10), sym("a.F", 100, 20), sym("d.Last", 145, 20), sym("e.Before", 90, 5),
	})
	want := map[string]int64{"a": 20, "b": 10, "c": 5, "d": 5}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSizesTable(t *testing.T) {
	s := &Sizes{Stack: 2048, Packages: []PackageSize{{"runtime", 4000, 300, 20, 100}, {"main", 50, 0, 0, 8}}}
	want := `    code   rodata     data      bss    flash      RAM  package
    4000      300       20      100     4320      120  runtime
      50        0        0        8       50        8  main
                               2048              2048  (stack)
    4050      300       20     2156     4370     2176  all
`
	if got := s.Table(); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}
