package hwcount

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Counters are the open counters of a process. They may be read and closed by any
// goroutine.
type Counters struct {
	files [2]*os.File // instructions and cycles
}

// An event is what a counter counts.
type event struct {
	kind   uint32
	config uint64
}

// Open opens counters that the next process inherits which the calling thread
// starts; see the package's documentation. The thread must start no other one.
// The error says why there are none, and what would help.
func Open() (*Counters, error) {
	return open(
		event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
		event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	)
}

// OpenClock is like Open, but has the kernel count the nanoseconds for which threads
// run, both as instructions and as cycles. Tests do this on machines without hardware
// counters.
func OpenClock() (*Counters, error) {
	clock := event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}
	return open(clock, clock)
}

// open opens counters of two events, as one group: both count or none does.
func open(instructions, cycles event) (*Counters, error) {
	// An event of a group counts when its leader does.
	leader, err := openEvent(instructions, unix.PerfBitDisabled|unix.PerfBitEnableOnExec, -1)
	if err != nil {
		return nil, why(err, paranoid())
	}
	follower, err := openEvent(cycles, 0, int(leader.Fd()))
	if err != nil {
		leader.Close()
		return nil, why(err, paranoid())
	}
	return &Counters{[2]*os.File{leader, follower}}, nil
}

// openEvent opens the counter of an event, for the calling thread and all threads and
// processes that it starts, on any processor.
func openEvent(e event, bits uint64, group int) (*os.File, error) {
	attr := unix.PerfEventAttr{
		Type:        e.kind,
		Size:        unix.PERF_ATTR_SIZE_VER0, // which all kernels know
		Config:      e.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        bits | unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, group, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "counter"), nil
}

// Read reads the counters.
func (c *Counters) Read() (Reading, error) {
	instructions, err := read(c.files[0])
	if err != nil {
		return Reading{}, err
	}
	cycles, err := read(c.files[1])
	return Reading{instructions, cycles}, err
}

// read reads one counter: in the Read_format of openEvent that is three numbers.
func read(f *os.File) (Count, error) {
	var b [24]byte
	if _, err := io.ReadFull(f, b[:]); err != nil {
		return Count{}, fmt.Errorf("they cannot be read: %w", err)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	return Count{word(0), time.Duration(word(1)), time.Duration(word(2))}, nil
}

// Close closes the counters.
func (c *Counters) Close() error {
	return errors.Join(c.files[0].Close(), c.files[1].Close())
}

// why explains the error err of perf_event_open on a system with that
// perf_event_paranoid.
func why(err error, paranoid int) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return errors.New("the kernel has none here, as in a virtual machine without a PMU")
	case errors.Is(err, unix.ENOSYS):
		return errors.New("the kernel has no perf_event_open")
	case !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM):
		return fmt.Errorf("perf_event_open: %w", err)
	case paranoid > 2:
		return fmt.Errorf("perf_event_paranoid is %d, which keeps them for root: sysctl kernel.perf_event_paranoid=2 allows them", paranoid)
	}
	return fmt.Errorf("perf_event_open: %w, as in containers: a seccomp profile that allows it, or CAP_PERFMON, helps", err)
}

// paranoid returns the setting of perf_event_paranoid, which is 2 by default.
func paranoid() int {
	text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return 2
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 2
	}
	return n
}
