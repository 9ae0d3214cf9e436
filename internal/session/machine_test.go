package session

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

func TestSlug(t *testing.T) {
	for s, want := range map[string]string{
		"Intel(R) Xeon(R) Processor 2c linux amd64":               "intel-xeon-2c-linux-amd64",
		"Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz 8c linux amd64": "intel-core-i7-8550u-8c-linux-amd64",
		"AMD EPYC 7B13 2c linux amd64":                            "amd-epyc-7b13-2c-linux-amd64",
		"Apple M2 Pro 10c darwin arm64":                           "apple-m2-pro-10c-darwin-arm64",
		" 4c linux riscv64":                                       "4c-linux-riscv64",
		"../../etc":                                               "..-..-etc",
	} {
		if got := slug(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Setenv("GOGC", "123")
	t.Setenv("GOFLAGS", "-trimpath  -mod=mod")
	env := filepath.Join(recordtest.Dir(t), "env")
	must(t, os.WriteFile(env, []byte("GOAMD64=v2\n"), 0o644))
	t.Setenv("GOENV", env) // what go env -w writes
	t.Setenv("GODEBUG", "")
	c := Describe(context.Background(), ".", "", "")
	for key, want := range map[string]string{
		"toolchain": "go version go1",
		"gogc":      "123",
		"goflags":   "-trimpath -mod=mod", // a line of its own, with single spaces
		"machine":   runtime.GOOS + "-" + runtime.GOARCH,
		"cores":     "",
		"emulated":  "false",
	} {
		if got := c.Value(key); got == "" || !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q in it", key, got, want)
		}
	}
	if runtime.GOARCH == "amd64" && c.Value("goamd64") != "v2" {
		t.Errorf("goamd64 is %q although go env -w set it", c.Value("goamd64"))
	}
	if v := c.Value("gomemlimit") + c.Value("godebug"); v != "" {
		t.Errorf("%q is noted of what is not set", v)
	}
	if c.Machine != c.Value("machine") || slug(c.Machine) != c.Machine {
		t.Errorf("machine %q, %q", c.Machine, c.Value("machine"))
	}
	// All of it is read as configuration, by readers that know nothing of us.
	text := ""
	for _, s := range c.Fixed {
		text += s.Key + ": " + strings.Join(s.Values, " ") + "\n"
	}
	r := benchfmt.NewReader(strings.NewReader(text+"BenchmarkX 1 1 ns/op\n"), "")
	r.Scan()
	res, ok := r.Result().(*benchfmt.Result)
	if !ok || len(res.Config) != len(c.Fixed) {
		t.Errorf("benchfmt reads %v of\n%s", r.Result(), text)
	}
	for _, s := range c.Fixed {
		if got := res.GetConfig(s.Key); got != s.Values[0] {
			t.Errorf("benchfmt reads %s as %q, want %q", s.Key, got, s.Values[0])
		}
	}
	if c := Describe(context.Background(), ".", "box", ""); c.Machine != "box" || c.Value("machine") != "box" {
		t.Errorf("machine %q, want the name that was given", c.Machine)
	}
}

func TestDescribeWorkTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := recordtest.Dir(t)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		must(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	sub := filepath.Join(dir, "sub")
	state := func(results string) string { return Describe(context.Background(), sub, "", results).Value("dirty") }

	put("a.go", "package a\n")
	put("sub/b.go", "package b\n")
	if c := Describe(context.Background(), sub, "", ""); c.Value("commit") != "" || c.Value("dirty") != "" {
		t.Skipf("the temporary folder is in a repository: %q", c.Value("commit"))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	c := Describe(context.Background(), sub, "", "")
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(c.Value("commit")) || c.Value("dirty") != "false" {
		t.Errorf("commit %q, dirty %q", c.Value("commit"), c.Value("dirty"))
	}
	// What runs and reports write is no change of what is measured.
	put("results/box/run.bench", "x")
	put("sub/results/box/run/chart.svg", "x")
	put("other.bench", "x")
	out := put("sub/out.txt", "x")
	if got := state(out); got != "false" {
		t.Errorf("with results only it is %q", got)
	}
	outside := filepath.Join(recordtest.Dir(t), "out.txt")
	first := state(outside) // out.txt counts now
	if !regexp.MustCompile(`^true [0-9a-f]{12}$`).MatchString(first) {
		t.Errorf("with another new file it is %q", first)
	}
	put("a.go", "package a // changed\n")
	second := state(out)
	put("a.go", "package a // changed again\n")
	if third := state(out); second == third || second == "false" {
		t.Errorf("two changes above the folder are %q and %q", second, third)
	}
}

func TestCircumstancesDiffer(t *testing.T) {
	then := map[string]string{"commit": "a", "dirty": "false", "gogc": "50", "cpu-mhz": "2600", "plan": "x"}
	now := &record.Circumstances{Fixed: []record.Setting{
		{Key: "commit", Values: []string{"a"}}, {Key: "dirty", Values: []string{"true 12"}}, {Key: "toolchain", Values: []string{"go2"}}, {Key: "cpu-mhz", Values: []string{"2599"}},
	}}
	want := []string{"dirty: false → true 12", "toolchain: none → go2", "gogc: 50 → none"}
	if got := now.Differences(then); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	now = &record.Circumstances{Fixed: []record.Setting{{Key: "new-toolchain", Values: []string{"go2"}}, {Key: "old-gogc", Values: []string{"50"}}, {Key: "tags", Values: []string{"a"}}}}
	want = []string{"new-toolchain: none → go2", "tags: none → a", "old-gogc: 60 → 50"}
	if got := now.Differences(map[string]string{"old-gogc": "60"}); !slices.Equal(got, want) {
		t.Errorf("of two builds: got %q, want %q", got, want)
	}
	// Nothing that Describe notes is forgotten, but what may change by itself.
	c := Describe(context.Background(), ".", "", "")
	for _, name := range record.Environment {
		c.Fixed = append(c.Fixed, record.Setting{Key: strings.ToLower(name), Values: []string{"x"}})
	}
	diffs := strings.Join(c.Differences(nil), "\n")
	for _, s := range c.Fixed {
		if told := strings.Contains("\n"+diffs, "\n"+s.Key+": none → "); told != (s.Key != "cpu-mhz") {
			t.Errorf("a difference in %s is told: %v", s.Key, told)
		}
	}
}

func TestLoad(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no load averages")
	}
	if l := Load(context.Background()); !regexp.MustCompile(`^\d+\.\d\d \d+\.\d\d \d+\.\d\d$`).MatchString(l) {
		t.Errorf("load %q", l)
	}
}

func TestBusiest(t *testing.T) {
	before := map[int32]processTime{1: {"init", 5}, 2: {"old", 1}, 3: {"lab", 1}}
	after := map[int32]processTime{
		1: {"init", 5.01}, 2: {"old", 1.5}, 3: {"lab", 3}, 4: {"new", 0.9}, 5: {"b", 0.1}, 6: {"a", 0.1},
	}
	want := []string{"new (process 4, 90 % of a core)", "old (process 2, 50 % of a core)", "a (process 6, 10 % of a core)"}
	if got := busiest(before, after, time.Second, 3); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	b := &Busy{Percent: 42.4, Top: want[:2]}
	if got, want := b.String(), "42 % of its processor time is in use, most of all by new (process 4, 90 % of a core), old (process 2, 50 % of a core)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// spinVariable has TestSpin keep a processor busy, for TestCheckIdle.
const spinVariable = "DYNO_TEST_SPIN"

func TestSpin(t *testing.T) {
	if os.Getenv(spinVariable) == "" {
		t.Skip("for TestCheckIdle")
	}
	for range runtime.NumCPU() { // so that it is a part of the machine that counts, however large that is
		go func() {
			for n := new(atomic.Int64); ; {
				n.Add(1)
			}
		}()
	}
	select {}
}

// A program that spins is seen.
func TestCheckIdle(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestSpin$")
	cmd.Env = append(os.Environ(), spinVariable+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	// It may take a while to begin, and a machine may have processors that others use.
	var b *Busy
	for tries := 0; tries < 100 && (b == nil || len(b.Top) == 0); tries++ {
		b = CheckIdle(context.Background(), 300*time.Millisecond)
	}
	if b == nil || b.Percent < busyPercent || len(b.Top) == 0 {
		t.Errorf("got %v", b)
	}
}
