package hw

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Sizes are what an image needs of a board's memory.
type Sizes struct {
	// Packages has what each package needs, the greatest first. What belongs to none
	// has a name in brackets.
	Packages []PackageSize
	// Stack is what the linker has put aside for the stacks that the cores start on, in
	// bytes. Those of goroutines come from the heap.
	Stack int64
}

// A PackageSize is what a package needs, in bytes.
type PackageSize struct {
	Name   string `json:"name"`
	Code   int64  `json:"code"`   // instructions
	ROData int64  `json:"rodata"` // constants, strings, tables
	Data   int64  `json:"data"`   // variables that do not begin as zero, and code that runs in RAM: in flash, and copied to RAM
	BSS    int64  `json:"bss"`    // variables that begin as zero
}

// Flash returns how many bytes of flash the package needs.
func (p PackageSize) Flash() int64 { return p.Code + p.ROData + p.Data }

// RAM returns how many bytes of RAM the package's variables need.
func (p PackageSize) RAM() int64 { return p.Data + p.BSS }

// Flash returns how many bytes of flash the image needs.
func (s *Sizes) Flash() (n int64) {
	for _, p := range s.Packages {
		n += p.Flash()
	}
	return n
}

// RAM returns how many bytes of RAM the image needs before it has allocated
// anything: variables, and the stack that the program starts on.
func (s *Sizes) RAM() int64 {
	n := s.Stack
	for _, p := range s.Packages {
		n += p.RAM()
	}
	return n
}

// Table returns the sizes as text, a line for each package and one for all.
func (s *Sizes) Table() string {
	var b strings.Builder
	line := func(code, ro, data, bss, flash, ram any, name string) {
		fmt.Fprintf(&b, "%8v %8v %8v %8v %8v %8v  %s\n", code, ro, data, bss, flash, ram, name)
	}
	line("code", "rodata", "data", "bss", "flash", "RAM", "package")
	all := PackageSize{}
	for _, p := range s.Packages {
		line(p.Code, p.ROData, p.Data, p.BSS, p.Flash(), p.RAM(), p.Name)
		all.add(p)
	}
	if s.Stack > 0 {
		line("", "", "", s.Stack, "", s.Stack, "(stack)")
	}
	line(all.Code, all.ROData, all.Data, all.BSS+s.Stack, s.Flash(), s.RAM(), "all")
	return b.String()
}

func (p *PackageSize) add(o PackageSize) {
	p.Code += o.Code
	p.ROData += o.ROData
	p.Data += o.Data
	p.BSS += o.BSS
}

// readSizes reads the sizes of an ELF file: of all sections that are loaded, divided
// among packages by the symbols in them. Whether a section is in flash or RAM is told
// by its flags: what can be written is in RAM, and what is not zero at the start is in
// flash. Where that is not so the name tells it, as TinyGo's linker scripts have it.
func readSizes(path string) (*Sizes, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	s := new(Sizes)
	packages := make(map[string]*PackageSize)
	add := func(name string, part PackageSize) {
		p := packages[name]
		if p == nil {
			p = &PackageSize{Name: name}
			packages[name] = p
		}
		p.add(part)
	}
	for i, section := range f.Sections {
		if section.Flags&elf.SHF_ALLOC == 0 || section.Size == 0 || section.Flags&elf.SHF_TLS != 0 && section.Type == elf.SHT_NOBITS {
			continue
		}
		switch {
		case section.Name == ".stack" || section.Name == ".stack1": // of the second core
			s.Stack += int64(section.Size)
			continue
		case strings.HasSuffix(section.Name, "_dummy"):
			// No memory: these chips see the same one at several addresses, and what
			// follows has to begin where the other view of it ends.
			continue
		}
		part := func(n int64) PackageSize {
			switch {
			case section.Type == elf.SHT_NOBITS:
				return PackageSize{BSS: n}
			case section.Flags&elf.SHF_WRITE != 0 || section.Name == ".iram":
				return PackageSize{Data: n}
			case section.Flags&elf.SHF_EXECINSTR != 0:
				return PackageSize{Code: n}
			}
			return PackageSize{ROData: n}
		}
		left := int64(section.Size)
		var inside []elf.Symbol
		for _, sym := range symbols {
			if int(sym.Section) == i && sym.Size > 0 && owns(sym) {
				if f.Machine == elf.EM_ARM && elf.ST_TYPE(sym.Info) == elf.STT_FUNC {
					sym.Value &^= 1 // Thumb code
				}
				inside = append(inside, sym)
			}
		}
		for name, n := range shares(section.Addr, section.Size, inside) {
			add(name, part(n))
			left -= n
		}
		if left > 0 {
			add("(unnamed in "+section.Name+")", part(left))
		}
	}
	for _, p := range packages {
		s.Packages = append(s.Packages, *p)
	}
	slices.SortFunc(s.Packages, func(a, b PackageSize) int {
		return cmp.Or(cmp.Compare(b.Flash(), a.Flash()), cmp.Compare(b.RAM(), a.RAM()), strings.Compare(a.Name, b.Name))
	})
	return s, nil
}

// shares divides a section among the packages of its symbols. What several symbols are
// of, or lies outside of the section, is counted once, or not.
func shares(addr, size uint64, symbols []elf.Symbol) map[string]int64 {
	slices.SortStableFunc(symbols, func(a, b elf.Symbol) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(b.Size, a.Size))
	})
	of := make(map[string]int64)
	at := addr
	for _, sym := range symbols {
		begin, end := max(sym.Value, at), min(sym.Value+sym.Size, addr+size)
		if begin < end {
			of[packageOf(sym.Name)] += int64(end - begin)
			at = end
		}
	}
	return of
}

// owns reports whether a symbol is of a function or variable.
func owns(s elf.Symbol) bool {
	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FUNC, elf.STT_OBJECT, elf.STT_NOTYPE:
		return s.Section > 0 && s.Section < elf.SHN_LORESERVE
	}
	return false
}

// The names of what belongs to no package.
const (
	typesSize = "(types and tables)"
	otherSize = "(C and assembly)"
)

// packageOf returns the package that a symbol of Go's linker or TinyGo's belongs to.
//
//	github.com/dynolab/dyno/actor.(*System).Spawn      Go
//	(*github.com/dynolab/dyno/actor.System).Spawn      TinyGo
//	slices.SortFunc[go.shape.[]int,go.shape.int]       Go
//	main.main$1                                        TinyGo, a function in a function
//	unicode$alloc.371                                  TinyGo, what a variable points to
//	reflect/types.type:basic:int                       TinyGo, a type
//	memcpy                                             C
func packageOf(symbol string) string {
	for _, prefix := range []string{"type:", "go:", "runtime.gcdata", "runtime.gcbits", "reflect/types.", "interface:", "struct:", "type..", "go."} {
		if strings.HasPrefix(symbol, prefix) {
			return typesSize
		}
	}
	if name, _, ok := strings.Cut(symbol, "$alloc"); ok {
		return name
	}
	name := strings.TrimLeft(symbol, "(*")
	if i := strings.IndexAny(name, "([{$"); i >= 0 {
		name = name[:i]
	}
	slash := strings.LastIndex(name, "/") + 1
	dot := strings.Index(name[slash:], ".")
	if dot <= 0 {
		return otherSize
	}
	name = name[:slash+dot]
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain // Go's linker escapes dots in the last element of a path
	}
	return name
}
