package session

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"
)

// busyPercent is the share of all processors' time from which a machine counts
// as busy. An idle desktop needs one or two percent.
const busyPercent = 5

// A Busy says what a machine does before a run.
type Busy struct {
	Percent float64 // of all processors' time
	Top     []string
}

// String is one line: how busy the machine is, and with what.
func (b *Busy) String() string {
	s := fmt.Sprintf("%.0f %% of its processor time is in use", b.Percent)
	if len(b.Top) > 0 {
		s += ", most of all by " + strings.Join(b.Top, ", ")
	}
	return s
}

// CheckIdle watches the machine for the given time and returns what keeps it
// busy, nil if nothing much does or the system does not tell.
func CheckIdle(ctx context.Context, watch time.Duration) *Busy {
	before := processTimes(ctx)
	percent, err := cpu.PercentWithContext(ctx, watch, false)
	if err != nil || len(percent) == 0 || percent[0] < busyPercent {
		return nil
	}
	return &Busy{Percent: percent[0], Top: busiest(before, processTimes(ctx), watch, int32(os.Getpid()))}
}

// busiest returns the three processes, but not self, that have used most time
// between two looks, as far as it is worth mentioning: two percent of a core.
func busiest(before, after map[int32]processTime, watch time.Duration, self int32) []string {
	type used struct {
		name  string
		share float64 // of a core
	}
	var all []used
	for pid, now := range after {
		if share := (now.seconds - before[pid].seconds) / watch.Seconds(); share > 0.02 && pid != self {
			all = append(all, used{fmt.Sprintf("%s (process %d, %.0f %% of a core)", now.name, pid, 100*share), share})
		}
	}
	slices.SortFunc(all, func(a, b used) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.name, b.name))
	})
	var top []string
	for _, u := range all[:min(3, len(all))] {
		top = append(top, u.name)
	}
	return top
}

type processTime struct {
	name    string
	seconds float64
}

func processTimes(ctx context.Context) map[int32]processTime {
	times := make(map[int32]processTime)
	ps, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return times
	}
	for _, p := range ps {
		t, err := p.TimesWithContext(ctx)
		if err != nil {
			continue // it has ended
		}
		name, err := p.NameWithContext(ctx)
		if err != nil {
			name = "?"
		}
		times[p.Pid] = processTime{name, t.User + t.System}
	}
	return times
}
