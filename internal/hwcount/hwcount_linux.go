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
	threads [][2]*os.File // instructions and cycles of each
}

// An event is what a counter counts.
type event struct {
	kind   uint32
	config uint64
}

// Attach opens counters of a process that stands still, for all threads that it has and
// those, also of other processes, that these will start. They count from now on; Close
// ends that. Its error says why there are none, and what would help.
func Attach(pid int) (*Counters, error) {
	return attach(pid,
		event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
		event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	)
}

// AttachClock is like Attach, but has the kernel count the nanoseconds for which threads
// run, both as instructions and as cycles. Tests do this on machines without hardware
// counters.
func AttachClock(pid int) (*Counters, error) {
	clock := event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}
	return attach(pid, clock, clock)
}

// attach opens counters of two events for each thread. It looks for threads until there
// is no new one: a process stops a moment after it is told to.
func attach(pid int, instructions, cycles event) (*Counters, error) {
	c, has := new(Counters), make(map[int]bool)
	for found := true; found; {
		found = false
		threads, err := threadsOf(pid)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		for _, tid := range threads {
			if has[tid] {
				continue
			}
			files, err := openGroup(tid, instructions, cycles)
			if err != nil {
				return nil, errors.Join(why(err, paranoid()), c.Close())
			}
			has[tid], found, c.threads = true, true, append(c.threads, files)
		}
	}
	return c, nil
}

// threadsOf returns the threads of a process.
func threadsOf(pid int) ([]int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, fmt.Errorf("its threads are not known: %w", err)
	}
	threads := make([]int, len(entries))
	for i, entry := range entries {
		if threads[i], err = strconv.Atoi(entry.Name()); err != nil {
			return nil, fmt.Errorf("its threads are not known: %w", err)
		}
	}
	return threads, nil
}

// openGroup opens the counters of two events for a thread, as one group: both count or
// none does.
func openGroup(tid int, instructions, cycles event) (files [2]*os.File, err error) {
	if files[0], err = openEvent(tid, instructions, -1); err != nil {
		return files, err
	}
	if files[1], err = openEvent(tid, cycles, int(files[0].Fd())); err != nil {
		files[0].Close()
	}
	return files, err
}

// openEvent opens the counter of an event, for a thread and all threads and processes
// that it starts, on any processor.
func openEvent(tid int, e event, group int) (*os.File, error) {
	attr := unix.PerfEventAttr{
		Type:        e.kind,
		Size:        unix.PERF_ATTR_SIZE_VER0, // which all kernels know
		Config:      e.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, tid, -1, group, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "counter"), nil
}

// Read reads the counters.
func (c *Counters) Read() (Reading, error) {
	var sum Reading
	for _, files := range c.threads {
		for i, to := range []*Count{&sum.Instructions, &sum.Cycles} {
			count, err := read(files[i])
			if err != nil {
				return Reading{}, err
			}
			to.N, to.Enabled, to.Running = to.N+count.N, to.Enabled+count.Enabled, to.Running+count.Running
		}
	}
	return sum, nil
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

// Close closes the counters. The process has none then.
func (c *Counters) Close() error {
	var errs []error
	for _, files := range c.threads {
		errs = append(errs, files[0].Close(), files[1].Close())
	}
	return errors.Join(errs...)
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
