// Package peers knows the programs in other languages that lie in the folder peers/ of a
// checkout: what each needs, how it is built, and whether it can be here. Each is a folder
// with a peer.json, and speaks the driving protocol when it is built.
package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
)

// A Peer is one program, as its peer.json has it.
type Peer struct {
	Name     string `json:"name"`     // of its folder, and its column without "peer-"
	Title    string `json:"title"`    // what of the peer is used
	Language string `json:"language"` // that it is written in
	Needs    []Need `json:"needs"`
	Flags    string `json:"flags,omitempty"` // of the compiler, which the program is told

	// Build are the commands that build it, in its folder. In their words {out} is the
	// folder that they build into and {flags} are Flags; a word {flags} becomes as many as they are.
	Build [][]string `json:"build"`

	root string // of the checkout
}

// A Need is a program or a file that a peer is built or run with.
type Need struct {
	Command string `json:"command,omitempty"` // in PATH
	File    string `json:"file,omitempty"`    // or this path
	Package string `json:"package"`           // of Debian and Ubuntu, that has it
}

// Folder is the folder of a checkout with all peers.
const Folder = "peers"

// All returns the programs of the checkout at root, by name. It is an error if one is not as
// it has to be.
func All(root string) ([]Peer, error) {
	files, err := filepath.Glob(filepath.Join(root, Folder, "*", "peer.json"))
	if err != nil {
		return nil, err
	}
	var all []Peer
	for _, file := range files {
		p, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		p.root = root
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no %s in %s: the checkout is of before there were peers", filepath.Join(Folder, "*", "peer.json"), root)
	}
	return all, nil
}

func read(file string) (p Peer, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, err
	}
	switch folder := filepath.Base(filepath.Dir(file)); {
	case p.Name != folder:
		return p, fmt.Errorf("the name is %q, and the folder %q", p.Name, folder)
	case p.Title == "" || p.Language == "" || len(p.Build) == 0:
		return p, errors.New("title, language and build must be there")
	}
	for _, n := range p.Needs {
		if (n.Command == "") == (n.File == "") || n.Package == "" {
			return p, fmt.Errorf("the need %+v: want a command or a file, and the package that has it", n)
		}
	}
	return p, nil
}

// Named returns those of all with these names, or all if there are none.
func Named(all []Peer, names []string) ([]Peer, error) {
	if len(names) == 0 {
		return all, nil
	}
	var some []Peer
	for _, name := range names {
		i := slices.IndexFunc(all, func(p Peer) bool { return p.Name == strings.TrimPrefix(name, "peer-") })
		if i < 0 {
			var have []string
			for _, p := range all {
				have = append(have, p.Name)
			}
			return nil, fmt.Errorf("no program %q among the peers; there are %s", name, strings.Join(have, ", "))
		}
		some = append(some, all[i])
	}
	return some, nil
}

// Column is the name of the peer's column, and of its program's file.
func (p Peer) Column() string { return "peer-" + p.Name }

// Program is where its program lies when it is built.
func (p Peer) Program() string { return filepath.Join(p.out(), p.Column()) }

// Folder is the folder of the checkout with all peers, those in Go too.
func (p Peer) Folder() string { return filepath.Join(p.root, Folder) }

func (p Peer) out() string { return filepath.Join(p.root, "bin", Folder, p.Name) }

// Install returns the command that installs what the peer needs and this machine does not
// have, "" if it has all.
func (p Peer) Install() string {
	var missing []string
	for _, n := range p.Needs {
		var err error
		if n.Command != "" {
			_, err = exec.LookPath(n.Command)
		} else {
			_, err = os.Stat(n.File)
		}
		if err != nil && !slices.Contains(missing, n.Package) {
			missing = append(missing, n.Package)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "apt-get install " + strings.Join(missing, " ")
}

// Built reports whether its program is there, and no older than its sources and those of the
// folders beside it that hold no peer of their own.
func (p Peer) Built() bool {
	info, err := os.Stat(p.Program())
	if err != nil {
		return false
	}
	folders, err := os.ReadDir(filepath.Join(p.root, Folder))
	if err != nil {
		return false
	}
	for _, f := range folders {
		path := filepath.Join(p.root, Folder, f.Name())
		_, err := os.Stat(filepath.Join(path, "peer.json"))
		if f.IsDir() && (err != nil || f.Name() == p.Name) && newest(path).After(info.ModTime()) {
			return false
		}
	}
	return true
}

// newest returns when the last file below path was written.
func newest(path string) (t time.Time) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be read cannot be compiled: the compiler says so
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
		return nil
	})
	return t
}

// MakeProgram builds its program. The error has what the compiler said.
func (p Peer) MakeProgram(ctx context.Context) error {
	if err := os.MkdirAll(p.out(), 0o755); err != nil {
		return err
	}
	out, err := filepath.Abs(p.out())
	if err != nil {
		return err
	}
	for _, words := range p.Build {
		var args []string
		for _, w := range words {
			if w == "{flags}" {
				args = append(args, strings.Fields(p.Flags)...)
			} else {
				args = append(args, strings.NewReplacer("{out}", out, "{flags}", p.Flags).Replace(w))
			}
		}
		cmd := child.Command(ctx, filepath.Join(p.root, Folder, p.Name), os.Environ(), args[0], args[1:]...)
		if said, err := cmd.CombinedOutput(); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("building %s: %s: %w\n%s", p.Column(), strings.Join(args, " "), err, said)
		}
	}
	if _, err := os.Stat(p.Program()); err != nil {
		return fmt.Errorf("building %s made no program %s", p.Column(), p.Program())
	}
	return nil
}
