package record

// Configuration keys of results that a board gave; FORMAT.md has all.
const (
	// BoardKey names the board; results of a host have none.
	BoardKey = "board"
	// EmulatedKey says whether a program played the board, or part of it; see
	// [IsEmulated].
	EmulatedKey = "emulated"
	// ClockUnitKey is what the board's clock counts: "ns", or InstructionClock.
	ClockUnitKey = "clock-unit"
	// InstructionClock is the clock-unit of an emulator that counts instructions.
	InstructionClock = "insns"
	// CounterKey names the tool that counted instructions, with its version.
	CounterKey = "counter"
	// ClockHzKey is how many ticks of the board's clock are a second: of an
	// emulated clock, how many instructions.
	ClockHzKey = "clock-hz"
)

// The units of what a process has used while it was measured.
const (
	UnitCPU      = "cpu-ns/op"    // processor time of all threads, whatever they did
	UnitGCCPU    = "gc-cpu-ns/op" // the part of it for collections that have ended
	UnitGCs      = "gcs/Mop"      // collections that ended, in a million operations
	UnitLiveHeap = "live-heap-B"  // what the last collection found in use
	UnitPeakRSS  = "peak-rss-B"   // the most memory that the process ever held

	// What a simulated processor counted, which runs one thread at a time: all of it, and what
	// is left without collections of garbage. See package counter.
	UnitCounted    = "instrs/op"
	UnitCountedOwn = "own-instrs/op"

	// What processors counted in user space, where they do.
	UnitInstructions = "instructions/op"
	UnitCycles       = "cycles/op"
)
