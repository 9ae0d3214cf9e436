package why

import (
	"slices"
	"strings"
)

// ownCode is the group of everything that is neither the runtime's nor the
// standard library's: implementations that are compared have packages of their
// own, and a group for each would only say that one is there and the other not.
const ownCode = "its own code"

// A class is a group of what the runtime does.
type class struct {
	name string
	// funcs are beginnings of function names, without "runtime." if they are of
	// that package.
	funcs []string
}

// classes are in the order in which they are looked for in the frames of one
// sample: an allocation that helps to collect garbage is collecting, and sending
// that wakes another goroutine is scheduling. Functions that serve several ends,
// such as futex or memmove, belong to their callers.
var classes = []class{
	{"garbage collection", []string{
		"gcBgMarkWorker", "gcDrain", "gcAssist", "gcStart", "gcMark", "gcSweep", "gcParkAssist", "gcWriteBarrier", "gcmarknewobject",
		"bgsweep", "bgscavenge", "sweepone", "wbBufFlush", "bulkBarrier", "scanobject", "scanObject", "scanblock", "scanstack", "scanConservative", "greyobject",
		"markroot", "deductSweepCredit", "(*gcWork)", "(*gcControllerState)", "(*sweepLocked)", "(*mspan).sweep", "(*mheap).reclaim", "shade",
		"stopTheWorld", "startTheWorld", "GC", "tryDeferToSpanScan", "(*spanQueue)", "spanQueue",
	}},
	{"allocating", []string{
		"mallocgc", "newobject", "newarray", "makeslice", "growslice", "rawstring", "rawbyteslice", "rawruneslice", "concatstring", "nextFreeFast",
		"(*mcache)", "(*mcentral)", "(*mheap).alloc", "makemap", "makechan", "profilealloc", "heapSetType", "memclrNoHeapPointersChunked", "mProf_Malloc",
		"slicebytetostring", "stringtoslicebyte",
	}},
	{"growing stacks", []string{"newstack", "copystack", "morestack", "adjustframe", "adjustpointers", "stackalloc", "stackfree", "stackcache"}},
	{"timers", []string{"(*timers)", "(*timer)", "checkTimers", "time.Sleep", "timeSleep", "time.(*Timer)", "time.(*Ticker)", "time.newTimer", "time.stopTimer", "time.resetTimer"}},
	{"scheduling", []string{
		"schedule", "findRunnable", "findrunnable", "park_m", "gopark", "goparkunlock", "goready", "ready", "wakep", "startm", "stopm", "mstart", "mPark",
		"notesleep", "notetsleep", "notewakeup", "runqget", "runqput", "runqsteal", "runqgrab", "runqempty", "stealWork", "globrunq", "resetspinning", "execute",
		"gosched", "Gosched", "goschedImpl", "goschedguarded", "handoffp", "acquirep", "releasep", "pidle", "injectglist", "netpoll", "sysmon", "retake", "preempt", "goyield",
		"mcall", "gogo", "casgstatus", "newm", "mput", "mget", "checkRunqs", "exitsyscall0", "checkdead", "asyncPreempt", "gopreempt_m", "dropg",
	}},
	{"starting and ending goroutines", []string{"newproc", "goexit", "gdestroy", "malg", "gfget", "gfput"}},
	{"channels", []string{"chansend", "chanrecv", "closechan", "selectgo", "selectnb", "sellock", "selunlock", "send", "recv", "sendDirect", "recvDirect", "acquireSudog", "releaseSudog"}},
	{"locks", []string{
		"sync.(*Mutex)", "sync.(*RWMutex)", "sync.(*Cond)", "sync.(*WaitGroup)", "sync.(*Once)", "internal/sync.(*Mutex)", "sync.runtime_", "internal/sync.runtime_",
		"semacquire", "semrelease", "semawakeup", "(*semaRoot)", "lock2", "unlock2", "lockWithRank", "unlockWithRank", "lock", "unlock", "notifyList", "(*mLockProfile)", "mutexContended",
	}},
	{"sync.Pool", []string{"sync.(*Pool)", "sync.(*poolChain)", "sync.(*poolDequeue)"}},
	{"maps", []string{
		"mapaccess", "mapassign", "mapdelete", "mapiter", "mapIter", "mapclear", "mapclone", "internal/runtime/maps.", "sync.(*Map)", "internal/sync.(*HashTrieMap", "memhash", "aeshash", "strhash", "nilinterhash", "interhash", "typehash",
	}},
	{"reading the clock", []string{"nanotime", "walltime", "time.Now", "time.now", "time.Since", "time.runtimeNano", "cputicks"}},
	{"defer and panic", []string{"deferproc", "deferreturn", "gopanic", "gorecover", "recovery", "(*_panic)", "(*unwinder)"}},
	{"interfaces and types", []string{"assertE2I", "convT", "getitab", "typeAssert", "ifaceeq", "efaceeq", "interfaceSwitch", "panicdottype"}},
	{"system calls", []string{"syscall.", "entersyscall", "exitsyscall", "internal/runtime/syscall", "reentersyscall", "cgocall", "asmcgocall"}},
	{"atomic operations", []string{"sync/atomic.", "internal/runtime/atomic."}},
	{"moving memory", []string{"memmove", "memclr", "memequal", "typedmemmove", "typedmemclr", "cmpbody", "typedslicecopy", "wbZero", "wbMove"}},
}

// otherRuntime is the group of what none of the classes has.
const otherRuntime = "the rest of the runtime"

// ofRuntime reports whether a function belongs to the runtime or to the packages
// that are its face, so that what it costs is told by what the runtime does.
func ofRuntime(symbol string) bool {
	switch p := packageOf(symbol); p {
	case "runtime", "sync", "internal/sync", "sync/atomic", "time", "syscall", "internal/bytealg", "internal/abi":
		return true
	default:
		return strings.HasPrefix(p, "internal/runtime/") || strings.HasPrefix(p, "runtime/")
	}
}

// groupOf returns the group of a sample: what the runtime does at the end of its
// stack, leaf first, or else whose code it is in. It also returns which of the
// functions tells a reader most about why it is in there: in the runtime the outermost
// one that the group is known by, such as chansend1 and not memmove; else the leaf.
func groupOf(stack []string) (group, says string) {
	if len(stack) == 0 {
		return otherRuntime, ""
	}
	end := slices.IndexFunc(stack, func(f string) bool { return !ofRuntime(f) })
	switch end {
	case 0:
		return codeOf(stack[0]), stack[0]
	case -1:
		end = len(stack)
	}
	for _, c := range classes {
		known, says := false, stack[0]
		for _, f := range stack[:end] {
			if !c.has(f) {
				continue
			}
			if known = true; !slices.Contains(entrances, f) {
				says = f
			}
		}
		if known {
			return c.name, says
		}
	}
	return otherRuntime, stack[0]
}

// entrances are functions through which everything goes and which tell nothing.
var entrances = []string{"runtime.mcall", "runtime.systemstack", "runtime.mstart", "runtime.mstart0", "runtime.mstart1", "runtime.schedule"}

// has reports whether a function is one that the class is known by. "lock" is lock and
// lock.func1, and "mallocgc" also mallocgcSmall…; a short word would have too many others.
func (c *class) has(symbol string) bool {
	bare := strings.TrimPrefix(symbol, "runtime.")
	return slices.ContainsFunc(c.funcs, func(f string) bool {
		return bare == f || strings.HasPrefix(bare, f) && (len(f) > 5 || bare[len(f)] == '.')
	})
}

// codeOf is the group of a function that is not the runtime's: its package in the
// standard library, whose import paths begin with a word without a dot, or
// ownCode. Package main has no dot either, and is own.
func codeOf(symbol string) string {
	p := packageOf(symbol)
	first, _, _ := strings.Cut(p, "/")
	if slices.Contains(standard, first) {
		return codePrefix + p
	}
	return ownCode
}

// codePrefix begins the group of a package of the standard library.
const codePrefix = "package "

// isCode reports whether a group is one of codeOf, that is, whose code it is and not
// what it does.
func isCode(group string) bool { return group == ownCode || strings.HasPrefix(group, codePrefix) }

// standard has the first words of the standard library's import paths: a module
// may have a path without a dot too.
var standard = strings.Fields(`archive arena bufio bytes cmp compress container context crypto database debug embed encoding errors
	expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime
	slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak`)

// packageOf returns the import path in the name of a function, such as
// "example.com/impls/channel" in "example.com/impls/channel.(*Group[...]).Go".
func packageOf(symbol string) string {
	folder, name := cutFolder(symbol)
	pkg, _, ok := strings.Cut(name, ".")
	if !ok {
		return ""
	}
	return strings.ReplaceAll(folder+pkg, "%2e", ".") // as the linker writes dots in the last element
}

// cutFolder cuts the name of a function after the last slash of its import path: type
// arguments may hold slashes of their own.
func cutFolder(symbol string) (folder, name string) {
	path, _, _ := strings.Cut(symbol, "[")
	slash := strings.LastIndexByte(path, '/') + 1
	return symbol[:slash], symbol[slash:]
}

// Short returns the name of a function for reading: without the folders of its
// import path, and without what its type arguments are.
func Short(symbol string) string {
	_, short := cutFolder(symbol)
	var b strings.Builder
	depth := 0
	for _, r := range short {
		switch {
		case r == '[':
			if depth++; depth == 1 {
				b.WriteString("[…")
			}
		case r == ']' && depth > 0:
			depth--
		}
		if depth == 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}
