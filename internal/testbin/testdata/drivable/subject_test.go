// Package subject has benchmarks of all sorts, to be driven. What each is to show
// is in the tests that drive it.
package subject

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

var verbose = flag.Bool("subject.verbose", false, "a flag of the package's own")

func TestMain(m *testing.M) {
	switch os.Getenv("SUBJECT_MAIN") {
	case "not":
		return // runs nothing
	case "fails":
		m.Run()
		fmt.Fprintln(os.Stderr, "something is left")
		os.Exit(1)
	case "child":
		fmt.Print("drive=" + os.Getenv("DYNO_DRIVE"))
		for fd := uintptr(3); fd <= 4; fd++ {
			// The runtime may have a file of its own there.
			if info, err := os.NewFile(fd, "").Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
				fmt.Print(" and pipe ", fd)
			}
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// work takes about a nanosecond a round.
func work(n int) (h uint32) {
	for i := range n {
		h = h*16777619 ^ uint32(i)
	}
	return h
}

// sink keeps the compiler from leaving out what computes a value, and kept makes
// what is assigned to it escape.
var (
	sink uint32
	kept []byte
)

// How often some benchmark was prepared in this process, and how many operations
// it has done.
var setups, operations int

func BenchmarkN(b *testing.B) {
	setups++
	for range b.N {
		sink += work(1000)
		operations++
	}
	b.ReportMetric(float64(b.N), "N")
	b.ReportMetric(float64(setups), "setups")
	b.ReportMetric(float64(operations), "operations")
}

func BenchmarkLoop(b *testing.B) {
	setups++
	b.ReportMetric(1, "forgotten-by-Loop")
	for b.Loop() {
		sink += work(1000)
		operations++
		b.ReportMetric(float64(operations), "operations")
	}
	b.ReportMetric(float64(b.N), "N")
	b.ReportMetric(float64(setups), "setups")
	b.ReportMetric(float64(b.Elapsed()), "elapsed")
}

// asked is what benchmarks that know of being driven ask for.
type asked interface {
	DriveAsked() bool
	DriveRefused(reason string)
	DriveSession(unit int, gcHeavy bool, do func(n int) error, reset func(), end func(n int, allocs, bytes uint64) error) error
}

func BenchmarkSession(b *testing.B) {
	a, ok := any(b).(asked)
	if !ok || !a.DriveAsked() {
		for range b.N {
			sink += work(1000)
		}
		return
	}
	setups++
	resets := 0
	err := a.DriveSession(7, true, func(n int) error {
		if n == 13 {
			return errors.New("13 are not to be done")
		}
		for range n {
			sink += work(1000)
			kept = make([]byte, 1000)
			operations++
		}
		return nil
	}, func() { resets++ }, func(n int, allocs, _ uint64) error {
		os.Stdout.WriteString("Unit each better=lower\nUnit N better=higher assume=exact\n")
		b.ReportMetric(float64(allocs)/float64(n), "each")
		b.ReportMetric(float64(n), "N")
		b.ReportMetric(float64(resets), "resets")
		b.ReportMetric(float64(setups), "setups")
		b.ReportMetric(float64(operations), "operations")
		b.ReportMetric(float64(b.Elapsed()), "elapsed")
		if n == 11 {
			return errors.New("11 are not right")
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRefuses(b *testing.B) {
	if a, ok := any(b).(asked); ok && a.DriveAsked() {
		a.DriveRefused("it is too large")
		panic("not reached")
	}
	for range b.N {
		sink += work(1000)
	}
}

func BenchmarkParallel(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(1000)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			work(1000)
		}
	})
}

// BenchmarkPauses allocates with the timer off, and half as much with it on.
func BenchmarkPauses(b *testing.B) {
	one := func(b *testing.B) {
		b.StopTimer()
		kept = make([]byte, 2000)
		kept = make([]byte, 2000)
		b.StartTimer()
		kept = make([]byte, 2000)
	}
	b.Run("n", func(b *testing.B) {
		for range b.N {
			one(b)
		}
	})
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			one(b)
		}
	})
}

func BenchmarkAllocates(b *testing.B) {
	b.Run("n", func(b *testing.B) {
		for range b.N {
			kept = make([]byte, 1<<16)
		}
	})
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			kept = make([]byte, 1<<16)
		}
	})
}

func BenchmarkPrints(b *testing.B) {
	fmt.Println("on standard output, without asking")
	for b.Loop() {
		fmt.Print("x")
	}
}

// BenchmarkTwice has two loops, of which package testing allows one.
func BenchmarkTwice(b *testing.B) {
	for range 2 {
		for b.Loop() {
			sink += work(10)
		}
	}
}

func BenchmarkSub(b *testing.B) {
	for name, n := range map[string]int{"a": 1, "a/b": 2, "a b": 3, "x[y]|z": 4} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				sink += work(10)
			}
			b.ReportMetric(float64(n), "which")
		})
	}
	b.Run("a", func(b *testing.B) { // is a#01
		for b.Loop() {
			sink += work(10)
		}
		b.ReportMetric(5, "which")
	})
}

// late is an error that takes its time to say what it is, when all deferred functions have
// run: what else is to end the process then can.
type late string

func (l late) Error() string {
	time.Sleep(50 * time.Millisecond)
	return string(l)
}

// BenchmarkBad ends in some way when it comes to the hundredth operation, or
// before its loop.
func BenchmarkBad(b *testing.B) {
	for name, end := range map[string]func(b *testing.B){
		"fatal": func(b *testing.B) { b.Fatal("no more than", 99) },
		"error": func(b *testing.B) { b.Error("no more than", 99) },
		"panic": func(*testing.B) { panic(late("no more")) },
		"skip":  func(b *testing.B) { b.Skip("not today") },
		"exit":  func(*testing.B) { os.Exit(0) },
		"exit7": func(*testing.B) { os.Exit(7) },
		"stuck": func(*testing.B) { <-make(chan int) },
		"hang":  func(*testing.B) { time.Sleep(time.Hour) },
		"go":    func(*testing.B) { runtime.Goexit() },
		"spin": func(*testing.B) {
			for sink >= 0 {
				sink = work(10)
			}
		},
	} {
		b.Run(name+"/n", func(b *testing.B) {
			for i := range b.N {
				if sink += work(10); i == 99 {
					end(b)
				}
			}
		})
		b.Run(name+"/loop", func(b *testing.B) {
			for i := 1; b.Loop(); i++ {
				if sink += work(10); i == 100 {
					end(b)
				}
			}
		})
		b.Run(name+"/before", func(b *testing.B) {
			end(b)
			for b.Loop() {
				sink += work(10)
			}
		})
		b.Run(name+"/after", func(b *testing.B) {
			for b.Loop() {
				sink += work(10)
			}
			end(b)
		})
	}
	b.Run("break/loop", func(b *testing.B) {
		for i := 1; b.Loop() && i < 100; i++ {
			sink += work(10)
		}
	})
	b.Run("stopped/loop", func(b *testing.B) {
		for i := 1; b.Loop(); i++ {
			if i == 100 {
				b.StopTimer()
			}
		}
	})
	b.Run("race/loop", func(b *testing.B) {
		for i := 1; b.Loop(); i++ {
			if i == 100 {
				done := make(chan bool)
				go func() {
					operations++
					close(done)
				}()
				operations++
				<-done
			}
		}
	})
}

// BenchmarkForks starts this binary once more, which is not driven then, and
// leaves a process behind that holds a lock.
func BenchmarkForks(b *testing.B) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SUBJECT_MAIN=child")
	if out, err := cmd.Output(); err != nil || string(out) != "drive=" {
		b.Fatalf("the child says %q, %v", out, err)
	}
	f, err := os.Create(os.Getenv("SUBJECT_LOCK"))
	if err != nil {
		b.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		b.Fatal(err)
	}
	left := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=BenchmarkBad/hang/before")
	left.Stdout = os.Stdout // which stays open for as long as it lives
	left.ExtraFiles = []*os.File{f}
	if err := left.Start(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		sink += work(10)
	}
}

// BenchmarkSlow reports how long the work of a slice took.
func BenchmarkSlow(b *testing.B) {
	b.Run("n", func(b *testing.B) {
		for range b.N {
			sink += work(1000)
		}
		b.ReportMetric(float64(b.Elapsed()), "worked")
	})
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			sink += work(1000)
			b.ReportMetric(float64(b.Elapsed()), "worked")
		}
	})
	b.Run("session", func(b *testing.B) {
		a, ok := any(b).(asked)
		if !ok || !a.DriveAsked() {
			b.Skip("only to be driven")
		}
		worked := math.Inf(1)
		if err := a.DriveSession(1, false, func(n int) error {
			for range n {
				sink += work(1000)
			}
			worked = float64(b.Elapsed())
			return nil
		}, func() {}, func(int, uint64, uint64) error {
			b.ReportMetric(worked, "worked")
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkBackground has a goroutine that makes a file longer for as long as the
// process lives.
func BenchmarkBackground(b *testing.B) {
	f, err := os.Create(os.Getenv("SUBJECT_COUNT"))
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for {
			if _, err := f.WriteString("."); err != nil {
				panic(err)
			}
		}
	}()
	for b.Loop() {
		sink += work(1000)
	}
}

// BenchmarkBeside does some work with the timer off, and less than a thousandth of it
// with the timer on.
func BenchmarkBeside(b *testing.B) {
	beside := func(b *testing.B) {
		b.StopTimer()
		sink += work(1_000_000)
		b.StartTimer()
		sink += work(100)
	}
	b.Run("n", func(b *testing.B) {
		for range b.N {
			beside(b)
		}
	})
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			beside(b)
		}
	})
}

func BenchmarkEnvironment(b *testing.B) {
	procs := runtime.GOMAXPROCS(0)
	for b.Loop() {
		sink += work(10)
	}
	b.ReportMetric(float64(procs), "procs")
	n, _ := strconv.ParseFloat(os.Getenv("SUBJECT_NUMBER"), 64)
	b.ReportMetric(n, "number")
	if *verbose {
		b.ReportMetric(1, "verbose")
	}
}
