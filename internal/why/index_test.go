package why

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

func TestIndexIsReadAsWritten(t *testing.T) {
	results := filepath.Join(t.TempDir(), "run.bench")
	if _, _, err := Read(results); !errors.Is(err, ErrNone) {
		t.Errorf("without an index the error is %v", err)
	}
	x := &Index{Schema: Schema, Results: "run.bench", Cells: []Cell{{Row: "r", Base: "b", Column: "c", Sentence: "Because.", Folder: "r"}}}
	if err := x.Write(results); err != nil {
		t.Fatal(err)
	}
	got, problems, err := Read(results)
	if err != nil || len(problems) > 0 || got.Find("", "r", "b", "c") == nil {
		t.Fatal(got, problems, err)
	}
	left, err := os.ReadDir(Folder(results))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// Damage is told by file and line, and cells are judged one by one.
// What was explained of the same run and columns stays; of any other it makes no sense.
func TestOpen(t *testing.T) {
	results := filepath.Join(t.TempDir(), "run.bench")
	plan := &record.Plan{Blocks: 1}
	x, doubts := openIndex(results, plan, "/impl", "")
	if len(doubts) > 0 || x.Results != "run.bench" || x.Plan != plan.ID() || x.Schema != Schema {
		t.Fatalf("the first time: %+v, %q", x, doubts)
	}
	x.Cells = []Cell{{Row: "r", Base: "b", Column: "c", Sentence: "Because.", Folder: "r"}, {Row: "s", Base: "b", Column: "c", Folder: "../s"}}
	if err := x.Write(results); err != nil {
		t.Fatal(err)
	}
	x, doubts = openIndex(results, plan, "/impl", "not what was measured")
	if len(x.Cells) != 1 || x.Built != "not what was measured" || len(doubts) != 1 || !strings.HasSuffix(doubts[0], " (left out)") {
		t.Errorf("again: %+v, %q", x, doubts)
	}
	for name, x := range map[string]func() (*Index, []string){
		"another plan":   func() (*Index, []string) { return openIndex(results, &record.Plan{Blocks: 2}, "/impl", "") },
		"another column": func() (*Index, []string) { return openIndex(results, plan, "side", "") },
	} {
		if x, _ := x(); len(x.Cells) > 0 {
			t.Errorf("%s: %+v", name, x.Cells)
		}
	}
	if err := os.WriteFile(filepath.Join(Folder(results), indexName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if x, doubts := openIndex(results, plan, "/impl", ""); len(x.Cells) > 0 || len(doubts) != 1 || !strings.HasSuffix(doubts[0], " (made anew)") {
		t.Errorf("damaged: %+v, %q", x, doubts)
	}
}

func TestDamagedIndex(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"schema\": \"dyno-why/2\",\n\"cells\": [}": "f:3: ",
		"{\n\"schema\": 7}":                             "f:2: ",
		"":                                              "f:1: ",
		"{\"schema\": \"dyno-why/2\",\n":                "f:1: ",
		`{"schema": "dyno-why/1"}`:                      `its schema is "dyno-why/1"`,
	} {
		if _, _, err := decode("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", text, err, want)
		}
	}
	x := &Index{Schema: Schema, Cells: []Cell{
		{Row: "r", Column: "c", Folder: "r"},
		{Row: "r", Column: "d", Folder: "../r"},
		{Row: "r", Column: "e", Folder: "r", Profiles: []Profile{{This: Side{Path: "/etc/passwd"}, Base: Side{Path: "r/x"}}}},
		{Row: "r", Column: "f", Folder: "r", Profiles: []Profile{{This: Side{Path: "r/y"}, Base: Side{Path: "r/x"}, Diff: "a/../../b"}}},
		{Column: "g", Folder: "r"},
	}}
	data, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	got, problems, err := decode("f", data)
	if err != nil || len(got.Cells) != 1 || got.Cells[0].Column != "c" || len(problems) != 4 {
		t.Errorf("%+v, %q, %v", got, problems, err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"schema":"dyno-why/2","cells":[{"row":"r","column":"c","folder":"r","profiles":[{"kind":"cpu","base":{"path":"r/b"},"this":{"path":"../t"}}]}]}`))
	f.Add([]byte("{\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, _, err := decode("f", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, c := range x.Cells {
			for _, p := range c.Profiles {
				for _, path := range []string{c.Folder, p.Base.Path, p.This.Path} {
					if !filepath.IsLocal(filepath.FromSlash(path)) {
						t.Errorf("a path leads out: %q", path)
					}
				}
			}
		}
	})
}

// A damaged profile is an error, never a crash, whatever is done with it.
func FuzzProfile(f *testing.F) {
	for _, kind := range []Kind{CPU, Alloc} {
		p := synthetic(&testing.T{}, kind, 16, "3 x.org/a.f runtime.mallocgc\n5 x.org/a.g")
		file := filepath.Join(f.TempDir(), "p")
		if err := writeProfile(file, p); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseProfile(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, kind := range []Kind{CPU, Alloc, Mutex} {
			d, err := Diff(kind, Sampled{Profile: p, N: 10}, Sampled{Profile: p, N: 20})
			if err != nil {
				continue
			}
			for _, cpu := range []*CPUTime{nil, {Base: 1, Diff: Interval{2, 1.5, 2.5}}} {
				f := finding{diff: Interval{1, 1, 1}, differs: true, cpu: cpu, profiles: map[Kind]*Profile{kind: &d}}
				f.sentence()
			}
			if _, err := diffProfile(Sampled{Profile: p, N: 10}, Sampled{Profile: p, N: 20}); err != nil {
				t.Errorf("compared, but no difference: %v", err)
			}
		}
	})
}
