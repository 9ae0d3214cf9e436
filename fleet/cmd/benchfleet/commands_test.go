//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/record"
)

// begin begins a command that runs until end is called, which returns its status.
func begin(t *testing.T, args ...string) (stderr *child.Buffer, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stderr, status := new(child.Buffer), make(chan int, 1)
	go func() { status <- run(ctx, args, io.Discard, stderr) }()
	end = sync.OnceValue(func() int { cancel(); return <-status })
	t.Cleanup(func() { end() })
	return stderr, end
}

// until waits until a command has said something.
func until(t *testing.T, s *child.Buffer, what string) {
	t.Helper()
	for range 10000 {
		if strings.Contains(s.String(), what) {
			return
		}
		time.Sleep(time.Millisecond) // there is nothing to wait for but the command
	}
	t.Fatalf("it never says %q: %s", what, s)
}

// says runs a command, of which it is known what it prints.
func says(t *testing.T, status int, want string, args ...string) (stdout string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(t.Context(), args, &out, &errs); got != status || !strings.Contains(out.String()+errs.String(), want) {
		t.Errorf("%q ends with %d, and says %q and %q; want %d and %q", args, got, out.String(), errs.String(), status, want)
	}
	return out.String()
}

// fake is a benchrun that has boards, and whose jobs have the figures that are in $FIGURES.
const fake = `#!/bin/sh
case "$1" in
board) [ "$*" != "board list --format json --map $PWD/broken" ] || { echo "a broken map" >&2; exit 1; }; cat "$BOARDS" ;;
carry) shift; echo "$@" >> "$CARRIED"; while [ $# -gt 1 ]; do [ "$1" != --out ] || out="$2"; shift; done; cat "$FIGURES" > "$out" ;;
esac
`

// What each command does with a fleet on this machine, from a key to results.
func TestCommands(t *testing.T) {
	home, dir := filepath.Join(t.TempDir(), "home"), t.TempDir()
	t.Chdir(dir)
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	benchrun := file("benchrun", fake)
	for name, value := range map[string]string{
		fleet.HomeEnv: home, "BENCHFLEET_SERVER": "", machinelock.Env: filepath.Join(dir, "lock"),
		"BOARDS": filepath.Join(dir, "boards"), "FIGURES": filepath.Join(dir, "figures"), "CARRIED": filepath.Join(dir, "carried"),
	} {
		t.Setenv(name, value)
	}
	key := strings.TrimSpace(says(t, 0, "U", "key"))
	if err := fleet.CheckKey(key); err != nil {
		t.Error(err)
	}
	says(t, 0, "kill -HUP", "key", "allow", "agent", key, "one")
	says(t, 0, "kill -HUP", "key", "allow", "sender", key)
	if got := read(filepath.Join(home, "keys")); got != "agent "+key+" one\nsender "+key+"\n" {
		t.Errorf("let in are %q", got)
	}
	says(t, 2, "name it", "key", "allow", "agent", key)
	says(t, 2, "benchfleet: ", "key", "allow", "root", key)
	says(t, 2, "there is no fleet at nats://127.0.0.1:1:", "status", "--server", "nats://127.0.0.1:1")
	if err := os.Remove(filepath.Join(home, "keys")); err != nil {
		t.Fatal(err)
	}
	serve, stop := begin(t, "serve", "--listen", "127.0.0.1:0", "--page", "127.0.0.1:0")
	until(t, serve, "status: http")
	if info, err := os.Stat(filepath.Join(home, "results")); err != nil || !info.IsDir() {
		t.Errorf("results are in %v, %v", info, err)
	}
	_, page, _ := strings.Cut(serve.String(), "status: ")
	if answer, err := http.Get(strings.TrimSpace(page)); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the page is %v, %v", answer, err)
	} else {
		answer.Body.Close()
	}
	says(t, 0, "has no machine yet", "status")
	says(t, 0, `"machines": null`, "status", "--format", "json")
	says(t, 0, "<html", "status", "--format", "html")
	says(t, 2, "it must be one of text, json, html", "status", "--format", "xml")

	join, leave := begin(t, "join", "--name", "one", "--label", "room=lab", "--benchrun", benchrun, "--sandbox=false")
	until(t, join, " as one: ")
	platform := runtime.GOOS + "/" + runtime.GOARCH
	says(t, 0, "one\t"+platform+"\t", "machines", "--on", "room=lab")
	says(t, 0, `[{"name":"one","platform":"`+platform+`","cores":`, "machines", "--json")
	says(t, 2, "no machine that is there", "machines", "--on", "room=den")
	says(t, 2, "has no board m3", "machines", "--on", "one", "--board", "m3")
	says(t, 2, `there is no machine "two"`, "drain", "one", "two")
	says(t, 0, "drained", "status")
	says(t, 0, "", "drain", "--off", "one")
	if got := says(t, 0, "free", "status"); strings.Contains(got, "drained") {
		t.Errorf("it is drained still: %s", got)
	}

	folder := filepath.Join(dir, "job")
	id, figures := packed(t, folder, benchrun)
	file("figures", figures)
	out := filepath.Join(dir, "new", "r.bench")
	says(t, 0, "one has job "+id[:12], "submit", folder, "--on", "one", "--out", out)
	if read(out) != figures || strings.Count(read("carried"), "--machine one --work ") != 1 {
		t.Errorf("it has %q", read(out))
	}
	says(t, 2, "file exists", "submit", folder, "--on", "one", "--out", out)
	if says(t, 0, "", "fetch", "one", id) != filepath.Join("results", "one", id[:12]+".bench")+"\n" || read(filepath.Join("results", "one", id[:12]+".bench")) != figures {
		t.Error("what is fetched is another thing")
	}
	says(t, 0, "r2\n", "fetch", "one", id, "--out", "r2")
	says(t, 2, "the fleet does not know the job any more", "fetch", "two", id)
	says(t, 2, "is not a name of a machine", "fetch", "A", id)
	says(t, 2, "is not a job", "fetch", "one", id[1:])
	says(t, 2, "is not a job", "cancel", "one", id[1:])
	says(t, 0, "", "cancel", "two", id)
	leave()
	until(t, join, "left")
	stop()

	// What cannot join or serve says why.
	says(t, 2, "no such program", "join", "--benchrun", filepath.Join(dir, "no such program"))
	says(t, 2, "--page: ", "serve", "--listen", "127.0.0.1:0", "--page", "x")
	says(t, 2, "needs --cert and --key", "serve", "--listen", "0.0.0.0:0")
	command := strings.Fields(says(t, 0, "--cert", "key", "tls", "127.0.0.1"))
	if len(command) != 8 || read(command[5]) == "" || read(command[7]) == "" {
		t.Errorf("it says to run %q", command)
	}
	secure, stop := begin(t, "serve", "--listen", "127.0.0.1:0", "--cert", command[5], "--key", command[7], "--page", "127.0.0.1:0", "--results", "elsewhere")
	until(t, secure, "status: https://127.0.0.1:")
	if !strings.Contains(secure.String(), "fleet at tls://127.0.0.1:") || !strings.Contains(secure.String(), "results in elsewhere") {
		t.Errorf("it says %s", secure)
	}
	if status := stop(); status != 0 {
		t.Errorf("it ends with %d", status)
	}
}

// packed packs a job, and returns its name and its results on the machine one.
func packed(t *testing.T, folder, image string) (id, figures string) {
	t.Helper()
	p, err := jobs.NewPacker(folder)
	if err != nil {
		t.Fatal(err)
	}
	binary := jobs.Binary{Pkg: "example.com/job", Undrivable: "not built for it"}
	if binary.Image, err = p.File(image); err != nil {
		t.Fatal(err)
	}
	plan := &record.Plan{
		CPU: []int{1}, Blocks: 1, Time: "1x", Seed: 1, Timeout: time.Minute, Packages: []string{"."}, Bench: ".",
		Subjects: map[string]string{binary.Pkg: binary.Image}, Cases: []record.Case{{Pkg: binary.Pkg, Name: "BenchmarkX"}},
	}
	id, err = p.Finish(&jobs.Job{Title: "run X", Name: "run", Platform: runtime.GOOS + "/" + runtime.GOARCH, Plan: plan.Encode(), Expected: time.Second, Binaries: []jobs.Binary{binary}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "r.bench")
	of := []record.Setting{{Key: "machine", Values: []string{"one"}}, {Key: "job", Values: []string{id}}}
	f, err := record.Create(path, plan, &record.Circumstances{Fixed: of}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f.Block(1, "", plan)
	for _, step := range plan.Steps() {
		f.Single(record.Record{Step: step, Printed: step.FullName() + " 1 5 ns/op"}, plan)
	}
	text, err := []byte(nil), f.End(1, "")
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return id, string(text)
}

// Boards join as machines of their own, those that can.
func TestBoards(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("BOARDS", filepath.Join(dir, "boards"))
	benchrun := filepath.Join(dir, "benchrun")
	const list = `[{"name":"m3","chip":"a chip","emulated":true,"runner":"qemu 9","sent":true},
		{"name":"pi","chip":"arm","connected":["pi.1","pi.2"],"sent":true},
		{"name":"pico","emulated":true}, {"name":"rv","emulated":true,"sent":true,"unrunnable":"there is no qemu"}]`
	for path, text := range map[string]string{benchrun: fake, filepath.Join(dir, "boards"): list} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		boards, hwmap string
		sandbox       bool
		want          string // machine, host, kind, chip, what runs it, command
	}{
		{"", "", true, ""},
		{"m3", "map", true, "one-m3 one m3 a chip qemu 9 benchrun carry --board m3"},
		{"pi.2", "map", false, "one-pi-2 one pi arm  benchrun carry --board pi.2 --map " + filepath.Join(dir, "map")},
		{"pi.1,m3", "", false, "one-pi-1 one pi arm  benchrun carry --board pi.1; one-m3 one m3 a chip qemu 9 benchrun carry --board m3"},
		{"all", "", true, "one-m3 one m3 a chip qemu 9 benchrun carry --board m3"},
		{"all", "", false, "one-m3 one m3 a chip qemu 9 benchrun carry --board m3; one-pi-1 one pi arm  benchrun carry --board pi.1; one-pi-2 one pi arm  benchrun carry --board pi.2"},
		{"pi.1", "", true, "error: --board pi.1: it is reached by ssh"},
		{"pico", "", false, "error: --board pico: it is flashed from sources"},
		{"rv", "", false, "error: --board rv: there is no qemu"},
		{"none", "", false, "error: --board none: there is no such board"},
		{"m3", "broken", false, "error: " + benchrun + " does not list its boards: a broken map"},
	} {
		f := &joinFlags{hwmap: x.hwmap}
		f.AgentOptions = fleet.AgentOptions{Machine: "one", Carry: []string{"benchrun", "carry"}, Sandbox: fleet.Sandbox{Off: !x.sandbox}}
		if x.boards != "" {
			f.boards = strings.Split(x.boards, ",")
		}
		var all []string
		agents, err := f.agents(t.Context(), benchrun)
		for i, a := range agents {
			if i == 0 {
				if a.Board != nil || a.Machine != "one" || len(a.Carry) != 2 {
					t.Errorf("%s: the machine itself is %+v", x.boards, a)
				}
				continue
			}
			all = append(all, strings.Join([]string{a.Machine, a.Board.Host, a.Board.Kind, a.Board.Chip, a.Board.Runs, strings.Join(a.Carry, " ")}, " "))
		}
		got := strings.Join(all, "; ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != x.want && (err == nil || !strings.HasPrefix(got, x.want)) {
			t.Errorf("--board %s: %s, want %s", x.boards, got, x.want)
		}
	}
}
