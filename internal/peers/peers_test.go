package peers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkout lays out a checkout with one peer, whose program is a script.
func checkout(t *testing.T, peerJSON string) string {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "peers", "x", "peer.json"), peerJSON)
	write(t, filepath.Join(root, "peers", "x", "main.sh"), "#!/bin/sh\n")
	write(t, filepath.Join(root, "peers", "lib", "shared.h"), "")
	write(t, filepath.Join(root, "peers", "y", "other.go"), "")
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

const whole = `{"name": "x", "title": "t", "language": "sh", "needs": [{"command": "sh", "package": "dash"}], "flags": "-a -b", "build": [["cp", "main.sh", "{out}/peer-x"]]}`

func TestBuild(t *testing.T) {
	root := checkout(t, strings.Replace(whole, `[["cp"`, `[["sh", "-c", "echo \"$0|$1|$2\" > {out}/words", "{flags}", "x{flags}"], ["cp"`, 1))
	all, err := All(root)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	p := all[0]
	if p.Column() != "peer-x" || p.Install() != "" || p.Built() {
		t.Errorf("%s, install %q, built %v", p.Column(), p.Install(), p.Built())
	}
	if err := p.MakeProgram(t.Context()); err != nil || !p.Built() {
		t.Fatalf("%v, built %v", err, p.Built())
	}
	if words, err := os.ReadFile(filepath.Join(root, "bin", "peers", "x", "words")); err != nil || string(words) != "-a|-b|x-a -b\n" {
		t.Errorf("the command had the words %q, %v", words, err)
	}
	// It is old if a source is newer: its own, or one that several have.
	later := time.Now().Add(time.Hour)
	for _, file := range []string{"peers/x/main.sh", "peers/lib/shared.h"} {
		path := filepath.Join(root, file)
		if err := os.Chtimes(path, later, later); err != nil || p.Built() {
			t.Errorf("%s is newer than the program, which counts as built: %v", file, err)
		}
		if err := os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)); err != nil || !p.Built() {
			t.Errorf("%s is old: %v", file, err)
		}
	}
}

func TestMissing(t *testing.T) {
	root := checkout(t, strings.Replace(whole, `{"command": "sh", "package": "dash"}`,
		`{"command": "no-such-command", "package": "a"}, {"file": "/no/such/file", "package": "b-dev"}, {"file": "/no/such", "package": "a"}, {"file": "/", "package": "root"}`, 1))
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	if got := all[0].Install(); got != "apt-get install a b-dev" {
		t.Errorf("Install is %q", got)
	}
}

func TestMakeProgramFails(t *testing.T) {
	for _, c := range []struct{ build, want string }{
		{`[["sh", "-c", "echo no such type; exit 1"]]`, "no such type"},
		{`[["true"]]`, "made no program"},
	} {
		all, err := All(checkout(t, strings.Replace(whole, `[["cp", "main.sh", "{out}/peer-x"]]`, c.build, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := all[0].MakeProgram(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.build, err, c.want)
		}
	}
}

func TestPeerJSONIsChecked(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"name": "x"`, `"name": "z"`, `the name is "z", and the folder "x"`},
		{`"title": "t"`, `"title": ""`, "title, language and build"},
		{`"command": "sh", `, ``, "want a command or a file"},
		{`"flags"`, `"flag"`, "unknown field"},
	} {
		if _, err := All(checkout(t, strings.Replace(whole, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	if _, err := All(t.TempDir()); err == nil {
		t.Error("no peers are no error")
	}
}

// The programs of this checkout are in order, and each is written where it says.
func TestOwnPeers(t *testing.T) {
	all, err := All("../..")
	if err != nil {
		t.Fatal(err)
	}
	some, err := Named(all, []string{"peer-tbb"})
	if err != nil || len(some) != 1 || some[0].Name != "tbb" {
		t.Errorf("%+v, %v", some, err)
	}
	if _, err := Named(all, []string{"tbbb"}); err == nil || !strings.Contains(err.Error(), "there are ") {
		t.Error(err)
	}
	for _, p := range all {
		last := p.Build[len(p.Build)-1]
		if !slices.ContainsFunc(last, func(w string) bool { return strings.HasPrefix(w, "{out}") }) {
			t.Errorf("%s: the last command %q writes nothing into {out}", p.Name, last)
		}
	}
}
