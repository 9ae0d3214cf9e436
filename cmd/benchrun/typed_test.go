package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// What the pages type to go test and benchstat does what they say: a count of ten does not
// end in go's ten minutes, and benchstat ignores every key that varies within a run.
func TestPagesTypeToOthers(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	must(t, err)
	help, err := filepath.Glob("help/*.txt")
	must(t, err)
	files, err := filepath.Glob("../../results/*/2026*-604d8cd8.bench")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("the run that README shows is not there")
	}
	varies := varying(t, files[0])
	counts, ignores := 0, 0
	for _, page := range slices.Concat(pages, help, []string{"../../README.md"}) {
		text := readPage(t, page)
		for _, line := range regexp.MustCompile(`(?m)^ *go test .*-count 10.*`).FindAllString(text, -1) {
			counts++
			if !strings.Contains(line, "-timeout 0") {
				t.Errorf("%s: %s: go test ends it after ten minutes", page, line)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^benchstat .*-ignore (\S+) .*`).FindAllStringSubmatch(text, -1) {
			ignores++
			for _, key := range varies {
				if !slices.Contains(strings.Split(m[1], ","), key) {
					t.Errorf("%s: %s: %s varies within a run", page, m[0], key)
				}
			}
		}
	}
	if counts < 2 || ignores < 2 {
		t.Errorf("only %d and %d commands were looked at", counts, ignores)
	}
}

// A typed line is one that a page or a help text says to type.
type typedLine struct{ page, line string }

// typedLines are the lines of README, the pages and the help texts that have benchrun in them,
// each once, without the comment behind.
func typedLines(t *testing.T) (all []typedLine) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	must(t, err)
	help, err := filepath.Glob("help/*.txt")
	must(t, err)
	seen := make(map[string]bool)
	for _, page := range slices.Concat([]string{"../../README.md", "../../CONTRIBUTING.md"}, pages, help) {
		isCode := false
		for line := range strings.Lines(readPage(t, page)) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
			line = strings.TrimSpace(strings.TrimPrefix(line, "$ "))
			switch {
			case strings.HasPrefix(line, "```"), filepath.Ext(page) == ".txt" && (line == "Examples:" || line == "Flags:"):
				isCode = !isCode
			case isCode && isTyped.MatchString(line) && !strings.Contains(line, "<") && !seen[line]: // <machine> is no word to type
				seen[line] = true
				all = append(all, typedLine{page, line})
			}
		}
	}
	return all
}

var isTyped = regexp.MustCompile(`^(benchrun|go test .*benchrun|echo .*benchrun)\b`)

// What is typed is what the command tree takes: flags, and as many arguments.
func TestTypedLinesParse(t *testing.T) {
	dir := t.TempDir()
	lines := typedLines(t)
	if len(lines) < 100 {
		t.Errorf("only %d lines were looked at", len(lines))
	}
	for _, l := range lines {
		cmd := exec.Command("sh", "-c", `benchrun() { { printf '%s\037' "$@"; echo; } >&3; }
			go() { :; }
			jq() { :; }
			{ `+l.line+`
			} 3>typed`)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v: %s", l.page, l.line, err, out)
			continue
		}
		for typed := range strings.Lines(readPage(t, filepath.Join(dir, "typed"))) {
			args := strings.Split(strings.TrimRight(typed, "\037\n"), "\037")
			if err := parses(slices.DeleteFunc(args, func(s string) bool { return s == "" })); err != nil {
				t.Errorf("%s: %s: %v", l.page, l.line, err)
			}
		}
	}
}

// parses returns what the command says of these arguments before it does anything.
func parses(args []string) error {
	root := newRootCmd()
	args, _, _, err := habitual(root, args)
	if err != nil {
		return err
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return errors.Join(checkWords(cmd), cmd.ValidateArgs(cmd.Flags().Args()))
}

// varying returns the keys of a results file that have several values, but for the package.
func varying(t *testing.T, file string) (keys []string) {
	t.Helper()
	f, err := record.ReadFile(file)
	must(t, err)
	for _, s := range f.Config {
		if len(s.Values) > 1 && s.Key != "pkg" {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// notRun are the lines that are parsed only, and why.
var notRun = []struct{ line, why string }{
	{`\b(board|carry|fleet|peers (run|build))\b|qemu|--on |--program`, "needs boards, other machines, a packed job, or other people's programs"},
	{`\bbisect\b|\bcalibrate( --quick| --for| --rounds| --truth( --idle| --for| --parts| v|$)| \./|$)|\btargets( --all|$)`, "measures for minutes"},
	{`^benchrun$|--idle wait|--within|--count|--resume`, "measures for minutes, or goes on with what did"},
	{`^benchrun run( \./impls| --bench|$)|\blist .*\./impls|\bconform\b|\./workloads|\./mydispatcher|\./peers`, "builds or measures all of dyno, for minutes"},
	{`\bserve\b`, "goes on until it is ended"},
	{`--go |golang.org/`, "downloads"},
	{`--why|\bwhy\b`, "needs the binaries of a run; the scripts have it"},
	{`overlay|--binary|/tmp/`, "writes into /tmp; the scripts have it"},
	{`--from `, "reads calibrations of half an hour; the scripts have it"},
	{`\bab (HEAD|v1|origin|\.\.|--gogc)|\./yourpkg|--cpu `, "does what another line does, with other versions; the scripts have it"},
}

// shorter is how the shell of TestTypedLines calls commands that measure: they are what was
// typed, and as short as can be. Nothing else is another than on a user's machine.
const shorter = `benchrun() {
	case $1 in
	ab) case " $* " in
		*" --save-baseline "*) set -- "$@" --layouts 1 ;;
		*" --command "*) shift; set -- ab --blocks 1 --rounds 1 --idle off "$@" ;;
		*) shift; set -- ab --blocks 1 --rounds 1 --slice 1ms --layouts 1 --idle off "$@" ;;
		esac ;;
	run) shift; set -- run --blocks 1 --rounds 1 --slice 1ms --time 1x --idle off "$@" ;;
	esac
	command benchrun "$@"
}
`

// What is typed works as it stands, in a module with the branches, tags, packages and files
// that the lines name.
func TestTypedLines(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	for _, program := range []string{"git", "sh", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	env := append(os.Environ(), "GOFLAGS=-benchtime=1x "+goFlags, "GOCACHE="+goCache(t))
	top := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"} {
		must(t, os.Mkdir(filepath.Join(top, name), 0o755))
		env = append(env, name+"="+filepath.Join(top, name))
	}
	module := userModule(t, top)
	ran := 0
	for _, l := range typedLines(t) {
		if slices.ContainsFunc(notRun, func(n struct{ line, why string }) bool { return regexp.MustCompile(n.line).MatchString(l.line) }) {
			continue
		}
		ran++
		t.Run(l.line, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", shorter+l.line)
			cmd.Dir, cmd.Env = module, env
			if strings.Contains(l.line, "peers") {
				cmd.Dir = "../.."
			}
			out, err := cmd.CombinedOutput()
			if status := cmd.ProcessState.ExitCode(); status != exitSlower && status != exitInconclusive && status != 0 { // which are answers
				t.Errorf("%s: %v\n%s", l.page, err, out)
			}
		})
	}
	if ran < 30 {
		t.Errorf("only %d lines were run", ran)
	}
}

// userModule makes the module of a user of whom the pages tell.
func userModule(t *testing.T, top string) (dir string) {
	t.Helper()
	dir = filepath.Join(top, "module")
	cmd := exec.Command("sh", "-ec", `
		mkdir -p module/codec module/mypackage module/results/my-machine
		cd module
		printf 'module example.com/m\n\ngo 1.23\n' >go.mod
		for p in . codec mypackage; do
			printf 'package %s\n\nimport "testing"\n\nfunc BenchmarkDecode(b *testing.B) {\n\tfor _, impl := range []string{"ref-a", "b"} {\n\t\tb.Run("impl="+impl, func(b *testing.B) {\n\t\t\tfor range b.N {\n\t\t\t\tb.Name()\n\t\t\t}\n\t\t})\n\t}\n}\n' $(basename $p | tr . m) >$p/a_test.go
		done
		echo results >.gitignore
		git init -q -b main
		git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m none
		git add -A
		git -c user.name=a -c user.email=a@example.com commit -q -m one
		git tag v1.2.0
		git tag v1.3.0
		git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m two
		git update-ref refs/remotes/origin/main HEAD
		git worktree add -q --detach ../old
		git worktree add -q --detach ../new
		printf '\nvar _ = "changed"\n' >>mypackage/a_test.go
		printf '#!/bin/sh\n' >old
		cp old new
		chmod +x old new`)
	cmd.Dir = top
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for to, from := range map[string]string{
		"results/my-machine/run.bench": "compare/testdata/compare/interleaved.bench",
		"run.bench":                    "compare/testdata/compare/interleaved.bench",
		"ab.bench":                     "compare/testdata/compare/turns.bench",
		"before.txt":                   "compare/testdata/compare/old.txt",
		"after.txt":                    "compare/testdata/compare/new.txt",
		"baseline.bench":               "compare/testdata/compare/old.txt",
		"now.bench":                    "compare/testdata/compare/new.txt",
		"before.json":                  "foreign/testdata/hyperfine-1.15.0.json",
		"after.json":                   "foreign/testdata/hyperfine-1.15.0.json",
	} {
		writeFile(t, filepath.Join(dir, to), strings.Replace(readPage(t, filepath.Join("../../internal", from)), "commit: 0123456789ab", "commit: 1a2b3c4", 1))
	}
	return dir
}
