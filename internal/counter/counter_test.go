package counter

import (
	"errors"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const output = `desc: Cachegrind
cmd: ./a.test -test.bench=fl=x
events: Ir
fl=/src/a.go
fn=a.Work
10 100
fi=/src/b.go
3 20
fe=/src/a.go
10 1
fl=/go/src/runtime/mgc.go
fn=runtime.gcDrain
7 30
fl=/go/src/runtime/proc.go
fn=runtime.sysmon
8 5
summary: 156
`

func TestRead(t *testing.T) {
	got, err := Read(strings.NewReader(strings.Replace(output, "cmd: ", "cmd: "+strings.Repeat("x", 100_000), 1)))
	want := Profile{
		{"a.Work", "/src/a.go", 10}: 101, {"a.Work", "/src/b.go", 3}: 20,
		{"runtime.gcDrain", "/go/src/runtime/mgc.go", 7}: 30, {"runtime.sysmon", "/go/src/runtime/proc.go", 8}: 5,
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if c := got.Count(); c != (Count{All: 151, Own: 121}) {
		t.Errorf("%+v", c)
	}
}

// TestReadDamaged: a file that is not whole gives an error and no count.
func TestReadDamaged(t *testing.T) {
	lines := strings.SplitAfter(output, "\n")
	for i := range lines {
		damaged := strings.Join(append(append([]string{}, lines[:i]...), lines[min(i+1, len(lines)):]...), "")
		p, err := Read(strings.NewReader(damaged))
		// Without a line that only names things the sum is still right.
		if count := strings.Contains(lines[i], "summary") || lines[i] != "" && lines[i][0] >= '0' && lines[i][0] <= '9'; count != (err != nil) {
			t.Errorf("without line %d, %q: %v, %v", i+1, lines[i], p, err)
		}
	}
	for _, bad := range []string{"", "events: Dr Ir\n1 2 3\nsummary: 2 3\n", strings.Replace(output, "10 100", "10 -100", 1), strings.Replace(output, "10 100", "x", 1)} {
		if p, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: %v", bad, p)
		}
	}
}

func TestMinus(t *testing.T) {
	a, b, c := Place{Func: "a"}, Place{Func: "b"}, Place{Func: "c"}
	got := Profile{a: 30, b: 4}.Minus(Profile{a: 10, c: 2}, 2)
	if want := (Profile{a: 10, b: 2, c: -1}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMean(t *testing.T) {
	a, b := Place{Func: "a"}, Place{Func: "b"}
	if got, want := Mean([]Profile{{a: 30, b: 4}, {a: 10}}), (Profile{a: 20, b: 2}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCount: what of the runtime goes by the clock counts nowhere, and what collects is not a program's own.
func TestCount(t *testing.T) {
	for function, want := range map[string]Count{
		"runtime.retake": {}, "runtime.(*pageAlloc).find": {}, "runtime.(*scavengeIndex).alloc": {},
		"runtime.gcAssistAlloc": {All: 1}, "runtime.(*lfstack).push": {All: 1}, "runtime.markrootSpans": {All: 1},
		"runtime.mallocgc": {1, 1}, "m.gcDrain": {1, 1}, "m.sysmon": {1, 1}, "sysmon": {1, 1}, "runtime.(*mheap).alloc": {1, 1},
	} {
		if got := (Profile{{Func: function}: 1}).Count(); got != want {
			t.Errorf("%s counts %+v, want %+v", function, got, want)
		}
	}
}

// TestTool: how a process is started so that its counts depend on the program, with the user's settings.
func TestTool(t *testing.T) {
	tool := &Tool{path: "/v", version: "valgrind-3"}
	under := tool.Under("a%b")
	if got := strings.Join(under, " "); got != "/v -q --tool=cachegrind --cache-sim=no --branch-sim=no --vgdb=no --I1=128,1,64 --D1=128,1,64 --LL=128,1,64 --vex-guest-chase=no --cachegrind-out-file=a%%b" {
		t.Errorf("it runs under %s", got)
	}
	for own, want := range map[string]string{"": settings, "gctrace=1": "gctrace=1," + settings} {
		t.Setenv("GODEBUG", own)
		if got := tool.Env(); !slices.Equal(got, []string{"GODEBUG=" + want}) {
			t.Errorf("its environment is %q", got)
		}
	}
	if settings != "asyncpreemptoff=1,gcstoptheworld=1,randautoseed=0,cpu.rdtscp=off" || tool.String() != "cachegrind of valgrind-3" {
		t.Errorf("%s with %s", tool, settings)
	}
	if cmd := exec.Command("x"); tool.Seed(cmd, 1) != nil || cmd.SysProcAttr != nil || tool.Seeded() {
		t.Error("a process is traced whose chance cannot be chosen")
	}
	if runtime.GOOS == "linux" {
		t.Setenv("PATH", t.TempDir())
		if _, err := Find(t.Context()); !errors.Is(err, ErrNone) {
			t.Errorf("without a tool: %v", err)
		}
	}
}

// TestUnseen: what counts say nothing of is known by what runs, once in a thousand operations.
func TestUnseen(t *testing.T) {
	p := Profile{
		{Func: "time.Sleep"}: 12, {Func: "runtime.timeSleep"}: 30, {Func: "internal/sync.(*Mutex).lockSlow"}: 0.5,
		{Func: "testing.(*B).RunParallel.func1"}: 3, {Func: "syscall.Syscall6"}: 0.0004, {Func: "syscall.read"}: 0.0006, {Func: "m.Sleep"}: 9,
	}
	if got := strings.Join(p.Unseen(), ", "); got != "sleeps, waits for locks, runs in parallel" {
		t.Errorf("%q", got)
	}
	for n, want := range map[float64]int{0.001: 0, 0.0011: 1} {
		if got := (Profile{{Func: "syscall.read"}: n}).Unseen(); len(got) != want {
			t.Errorf("what runs %v times is unseen: %q", n, got)
		}
	}
	if got := (Profile{{Func: "testing.(*B).RunParallelly"}: 9}).Unseen(); got != nil {
		t.Errorf("%q", got)
	}
}
