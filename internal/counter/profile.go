package counter

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Place is where instructions are: a function as the linker names it, and in it the file and
// line, which are those of another function where that is inlined. Without debugging
// information the file is "???" and the line 0.
type Place struct {
	Func, File string
	Line       int
}

// A Profile is how many instructions a process ran at each place.
type Profile map[Place]float64

// Read reads what cachegrind wrote. The format is that of the "Cachegrind output file format" of
// its manual, with the event Ir first: instructions.
func Read(r io.Reader) (Profile, error) {
	p := make(Profile)
	var at Place
	sum, total := 0.0, math.NaN()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		key, value, _ := strings.Cut(line, "=")
		switch {
		case line == "", strings.HasPrefix(line, "desc:"), strings.HasPrefix(line, "cmd:"):
		case strings.HasPrefix(line, "events:"):
			if f := strings.Fields(line); len(f) < 2 || f[1] != "Ir" {
				return nil, fmt.Errorf("line %d: want the event Ir first: %q", n, line)
			}
		case strings.HasPrefix(line, "summary:"):
			f := strings.Fields(line)
			v, err := strconv.ParseUint(f[min(1, len(f)-1)], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			total = float64(v)
		case key == "fl" || key == "fi" || key == "fe":
			at.File = value
		case key == "fn":
			at.Func = value
		default:
			f := strings.Fields(line)
			if len(f) < 2 {
				return nil, fmt.Errorf("line %d is not known: %q", n, line)
			}
			number, err := strconv.Atoi(f[0])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			v, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			at.Line = number
			p[at] += float64(v)
			sum += float64(v)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if sum != total { // NaN of a file that was cut
		return nil, fmt.Errorf("the counts add up to %.0f, and the summary is %.0f: the file is not complete", sum, total)
	}
	return p, nil
}

// Minus returns how many instructions p has more than q at each place, divided by ops.
func (p Profile) Minus(q Profile, ops float64) Profile {
	d := make(Profile, len(p))
	for at, v := range p {
		d[at] = (v - q[at]) / ops
	}
	for at, v := range q {
		if _, ok := p[at]; !ok {
			d[at] = -v / ops
		}
	}
	return d
}

// Mean returns the mean of profiles.
func Mean(all []Profile) Profile {
	mean := make(Profile)
	for _, p := range all {
		for at, v := range p {
			mean[at] += v / float64(len(all))
		}
	}
	return mean
}

// A Count is how many instructions there are of what.
type Count struct {
	All float64 // but what goes by the clock
	Own float64 // the part without collections of garbage
}

// Count adds up a profile.
func (p Profile) Count() (c Count) {
	for at, v := range p {
		switch {
		case has(byClock, at.Func):
		case has(collecting, at.Func):
			c.All += v
		default:
			c.All += v
			c.Own += v
		}
	}
	return c
}

// unseen are functions that say that a program does what counts of instructions do not see.
var unseen = []struct {
	what      string
	functions []string
}{
	{"sleeps", []string{"time.Sleep", "runtime.timeSleep"}},
	{"waits for locks", []string{"internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).lockSlow", "sync.(*RWMutex).rUnlockSlow", "sync.runtime_SemacquireRWMutex"}},
	{"calls the system", []string{"syscall.Syscall", "syscall.Syscall6", "syscall.RawSyscall", "syscall.read", "syscall.write"}},
	{"runs in parallel", []string{"testing.(*B).RunParallel"}},
}

// Unseen returns what a program does that counts do not see, by the functions that run once in a
// thousand operations at least, of a profile of one operation: "sleeps", "waits for locks".
func (p Profile) Unseen() (what []string) {
	const seldom = 0.001
	for _, u := range unseen {
		n := 0.0
		for at, v := range p {
			if slices.ContainsFunc(u.functions, func(f string) bool { return at.Func == f || strings.HasPrefix(at.Func, f+".func") }) {
				n += v
			}
		}
		if n > seldom {
			what = append(what, u.what)
		}
	}
	return what
}

// byClock are functions of the runtime that run every so often by the clock, whatever the
// program does: the thread that watches the others with what it calls, what gives memory back to the
// system, and the search for free pages, whose steps depend on what was given back by then.
var byClock = []string{
	"sysmon", "retake", "preemptone", "incidlelocked", "checkdead", "setBlockOnExitSyscall", "usleep", "procyield", "schedtrace",
	"(*scavengerState)", "bgscavenge", "(*pageAlloc)", "(*pallocData).findScavengeCandidate", "(*scavengeIndex)", "mergeSummaries", "(*pallocBits).summarize",
}

// collecting are functions of the runtime that collect garbage.
var collecting = []string{
	"gc", "bgsweep", "sweepone", "scanobject", "scanObject", "scanblock", "scanstack", "scanConservative", "scanframeworker", "greyobject", "markroot", "findObject",
	"markBits", "(*gcWork)", "(*gcControllerState)", "(*sweepLocked)", "(*mspan).sweep", "(*mspan).markBitsForIndex", "(*mheap).reclaim", "shade", "wbBufFlush",
	"tryDeferToSpanScan", "spanSetScans", "(*spanQueue)", "spanQueue", "(*spanInlineMarkBits)", "finishsweep_m", "clearpools", "(*activeSweep)", "(*lfstack)", "getempty", "putempty", "putfull", "trygetfull",
}

// has reports whether a function of the runtime is one of those that begin so.
func has(names []string, function string) bool {
	bare, ok := strings.CutPrefix(function, "runtime.")
	return ok && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(bare, n) })
}
