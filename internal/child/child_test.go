package child

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/failure"
)

// ended returns the state of a process that has ended with status 2, as one that
// crashes does.
func ended(t *testing.T) *os.ProcessState {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.no-such-flag")
	if err := cmd.Run(); err == nil {
		t.Fatal("a flag that is not there is no error")
	}
	return cmd.ProcessState
}

// The stacks are shortened from what Go 1.26 has printed.
const (
	// An index out of range in tiny.go, below a deferred call that panics again.
	repanicked = `BenchmarkHash-2   	panic: not at the beginning of a line
panic: runtime error: index out of range [3] with length 3 [recovered, repanicked]

goroutine 21 [running]:
example.com/tiny.BenchmarkHash.func1()
	example.com/tiny/tiny_test.go:31 +0x18
panic({0x575440?, 0xfed19ae0a8?})
	runtime/panic.go:860 +0x13a
example.com/tiny.Hash(...)
	example.com/tiny/tiny.go:12
example.com/tiny.BenchmarkHash(0xfed1a70308?)
	example.com/tiny/tiny_test.go:34 +0x8e
testing.(*B).runN(0xfed1a70308, 0x1)
	testing/benchmark.go:219 +0x190
testing.(*B).run1.func1()
	testing/benchmark.go:245 +0x48
created by testing.(*B).run1 in goroutine 1
	testing/benchmark.go:238 +0x90
exit status 2
`
	// A panic, and another one in what was deferred.
	twice = `panic: first
	panic: second

goroutine 21 [running]:
example.com/tiny.deferred()
	example.com/tiny/tiny.go:50 +0x18
panic({0x575440?, 0xfed19ae0a8?})
	runtime/panic.go:860 +0x13a
example.com/tiny.cleanUp()
	example.com/tiny/tiny.go:40 +0x18
panic({0x575440?, 0xfed19ae0a8?})
	runtime/panic.go:860 +0x13a
example.com/tiny.Hash(...)
	example.com/tiny/tiny.go:12
testing.(*B).runN(0xfed1a70308, 0x1)
	testing/benchmark.go:219 +0x190
`
	// In a callback of the standard library, with a nil pointer.
	callback = `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x52e8a1]

goroutine 7 [running]:
example.com/tiny/internal/order.Less[...](...)
	/home/me/tiny/internal/order/order.go:5
sort.insertionSort_func({0xc000012345?, 0x0?}, 0x0, 0x2)
	/usr/local/go/src/sort/zsortfunc.go:12 +0x1d
sort.Slice({0x5, 0xc0000121e0}, 0x1)
	/usr/local/go/src/sort/slice.go:29 +0x12
example.com/tiny_test.BenchmarkSort(0xc0000ba000)
	/home/me/tiny/sort_test.go:9 +0x20
testing.(*B).runN(0xc0000ba000, 0x1)
	/usr/local/go/src/testing/benchmark.go:219 +0x190
`
	// A fatal error, which is in a goroutine of its own.
	maps = `fatal error: concurrent map writes

goroutine 34 gp=0x265964bfed20 m=3 mp=0xc000080008 [running]:
internal/runtime/maps.fatal({0x5a1b2c?, 0x0?})
	runtime/panic.go:1046 +0x20 fp=0x265964c36fe0 sp=0x265964c36fa8 pc=0x44ef93
gopkg.in/tiny%2ev2.(*Set).Add(...)
	gopkg.in/tiny%2ev2@v2.1.0/set.go:40
example.com/tiny.BenchmarkSet.func1()
	example.com/tiny/tiny_test.go:60 +0x11 fp=0x265964c36fe0 sp=0x265964c36fa8 pc=0x44ef93
created by example.com/tiny.BenchmarkSet in goroutine 20
	example.com/tiny/tiny_test.go:59 +0x1a
`
	// Nothing runs any more: the benchmark waits in a sub-benchmark, whose parent
	// waits for it.
	asleep = `fatal error: all goroutines are asleep - deadlock!

goroutine 1 [chan receive]:
testing.(*B).run1(0x38fd3d79a308)
	testing/benchmark.go:247 +0xa6
testing.(*B).Run(0x38fd3d79a008, {0x587e01?, 0x38fd3d787ad0?}, 0x593ee0)
	testing/benchmark.go:867 +0x4de
testing.(*B).runN(0x38fd3d79a008, 0x1)
	testing/benchmark.go:219 +0x190
main.main()
	_testmain.go:50 +0x9b

goroutine 20 [chan receive]:
testing.(*B).run1(0x38fd3d79a308)
	testing/benchmark.go:247 +0xa6
testing.(*B).Run(0x38fd3d79a008, {0x587e01?, 0x38fd3d787ad0?}, 0x593ee0)
	testing/benchmark.go:867 +0x4de
example.com/tiny.BenchmarkAll(0x38fd3d79a008)
	example.com/tiny/tiny_test.go:70 +0x30
testing.(*B).runN(0x38fd3d79a008, 0x1)
	testing/benchmark.go:219 +0x190

goroutine 22 [select (no cases)]:
example.com/tiny.worker()
	example.com/tiny/tiny.go:99 +0x30

goroutine 21 [sync.WaitGroup.Wait, 2 minutes]:
sync.(*WaitGroup).Wait(0x0)
	sync/waitgroup.go:118 +0x48
example.com/tiny.wait(...)
	example.com/tiny/tiny.go:80
testing.(*B).runN(0x38fd3d79a008, 0x1)
	testing/benchmark.go:219 +0x190
created by testing.(*B).run1 in goroutine 20
	testing/benchmark.go:238 +0x90
`
	// A module whose path begins as the standard library does.
	dotless = `panic: oh

goroutine 7 [running]:
hash.Sum(...)
	hash/sum.go:3
hash.BenchmarkSum(0xc0000ba000)
	hash/sum_test.go:9 +0x20
testing.(*B).runN(0xc0000ba000, 0x1)
	testing/benchmark.go:219 +0x190
`
	failed = `BenchmarkHash-2
--- FAIL: BenchmarkHash-2
    tiny_test.go:11: told in passing
    tiny_test.go:12: boom,
        and more
FAIL
`
	verbose = `BenchmarkHash-2
    tiny_test.go:12: boom
--- FAIL: BenchmarkHash-2
FAIL
`
)

// labelled are stacks as Go 1.27 prints them, of goroutines with pprof labels.
func labelled(stacks string) string {
	return strings.ReplaceAll(stacks, "]:\n", "] {job: one, \"a key\": \"]:\\n[running]:\"}:\n")
}

func TestWhyFailed(t *testing.T) {
	state := ended(t)
	for _, c := range []struct{ name, output, want string }{
		{"panicked again", repanicked, "crashed: panic: runtime error: index out of range [3] with length 3 [recovered, repanicked] (tiny.go:12)"},
		{"panicked twice", twice, "crashed: panic: first (tiny.go:12)"},
		{"line ends of Windows", strings.ReplaceAll(repanicked, "\n", "\r\n"), "crashed: panic: runtime error: index out of range [3] with length 3 [recovered, repanicked] (tiny.go:12)"},
		{"with labels", labelled(repanicked), "crashed: panic: runtime error: index out of range [3] with length 3 [recovered, repanicked] (tiny.go:12)"},
		{"another goroutine, with labels", labelled(maps), "crashed: fatal error: concurrent map writes (gopkg.in/tiny.v2/set.go:40)"},
		{"another package", callback, "crashed: panic: runtime error: invalid memory address or nil pointer dereference (example.com/tiny/internal/order/order.go:5)"},
		{"tested from outside", strings.ReplaceAll(callback, "tiny/internal/order.Less", "tiny.Less"), "crashed: panic: runtime error: invalid memory address or nil pointer dereference (order.go:5)"},
		{"another goroutine", maps, "crashed: fatal error: concurrent map writes (gopkg.in/tiny.v2/set.go:40)"},
		{"deadlock", asleep, "crashed: fatal error: all goroutines are asleep - deadlock! (tiny.go:80)"},
		{"a path without a dot", dotless, "crashed: panic: oh (sum.go:3)"},
		{"without stacks", "panic: oh\n", "crashed: panic: oh"},
		{"only the library's", "panic: oh\n\ngoroutine 1 [running]:\nmain.main()\n\t_testmain.go:50 +0x9b\n", "crashed: panic: oh"},
		{"cut off", "panic: oh\n\ngoroutine 1 [running]:\nexample.com/m.F()", "crashed: panic: oh"},
		{"before the benchmark", "panic: oh\n\ngoroutine 1 [running]:\nexample.com/m.init.0()\n\texample.com/m/m.go:3 +0x9b\n", "crashed: panic: oh (m.go:3)"},
		{"long", "panic: " + strings.Repeat("é", 1<<16) + "\n", "crashed: panic: " + strings.Repeat("é", 500-len("panic: ")) + "…"},
		{"failed", failed, "failed: tiny_test.go:12: boom, and more"},
		{"failed, verbose", verbose, "failed: tiny_test.go:12: boom"},
		{"failed, no reason", "--- FAIL: BenchmarkHash-2\nFAIL\n", "failed: --- FAIL: BenchmarkHash-2"},
		{"nothing", "", "ended with exit status 2"},
	} {
		kind, got := WhyFailed(c.output, state)
		if word, _, _ := strings.Cut(c.want, " "); got != c.want || kind != map[string]failure.Kind{"crashed:": failure.Crash, "failed:": failure.Fail, "ended": failure.Exit}[word] {
			t.Errorf("%s: %s, %q, want %q", c.name, kind, got, c.want)
		}
	}
}

func TestWhereHung(t *testing.T) {
	for output, want := range map[string]string{
		"SIGQUIT: quit\nPC=0x408fee m=0 sigcode=0\n\n" + asleep: "tiny.go:80",
		labelled(asleep): "tiny.go:80",
		strings.ReplaceAll(asleep, "tiny.wait", "other.wait"): "example.com/other/tiny.go:80",
		strings.ReplaceAll(asleep, ".runN", ".neverCalled"):   "",
		"": "",
	} {
		if got := WhereHung(output); got != want {
			t.Errorf("%q, want %q of\n%s", got, want, output)
		}
	}
}

// The standard library is known by name.
func TestStandard(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	out, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		if !isStandard(pkg) {
			t.Errorf("%s is taken for a module's", pkg)
		}
	}
	for _, pkg := range []string{"example.com/time", "main", "tiny", "golang.org/x/text"} {
		if isStandard(pkg) {
			t.Errorf("%s is taken for the standard library's", pkg)
		}
	}
}
