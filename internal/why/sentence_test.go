package why

import (
	"strings"
	"testing"
	"time"
)

// cpuProfile is a comparison of CPU profiles with so many samples on both sides.
func cpuProfile(samples int64, base, this float64, groups ...Change) *Profile {
	return &Profile{Kind: CPU, Base: Side{Total: base, Samples: samples}, This: Side{Total: this, Samples: samples}, Groups: groups}
}

// changed is a group, or a function, that all of parts make up.
func changed(name string, base, this float64, parts ...Change) Change {
	return Change{Name: name, Base: Cost{Flat: base}, This: Cost{Flat: this}, parts: parts}
}

// counted is a CPU time that differs by diff, in an interval, where the time itself
// differs by wall to the nanosecond.
func counted(base float64, diff Interval, baseWall, wall float64) *CPUTime {
	return &CPUTime{Base: base, Diff: diff, BaseWall: baseWall, Wall: Interval{wall, wall - 1, wall + 1}, Pairs: 8}
}

// at is a difference that is known exactly.
func at(v float64) Interval { return Interval{v, v, v} }

func TestSentence(t *testing.T) {
	own := changed(ownCode, 100, 110)
	scheduling := changed("scheduling", 100, 280, changed("runtime.findRunnable", 60, 160), changed("runtime.stopm", 40, 120))
	for _, c := range []struct {
		name      string
		f         finding
		want      string
		explained bool
	}{
		{
			"one group is most of it",
			finding{diff: at(200), differs: true, cpu: counted(400, Interval{240, 220, 260}, 300, 200), profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 400, 640, scheduling, changed("allocating", 0, 50), own),
			}},
			"new is 200 ns per operation slower than old and uses 240 ns more CPU time (220 to 260 ns): 180 ns more in scheduling (findRunnable, stopm).",
			true,
		},
		{
			"two groups, and one against them",
			finding{diff: at(-200), differs: true, cpu: counted(600, Interval{-200, -210, -190}, 500, -200), profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 600, 400, changed("scheduling", 190, 100), changed("locks", 160, 80), changed("channels", 0, 60, changed("runtime.chansend1", 0, 60)), own),
			}},
			"new is 200 ns per operation faster than old and uses 200 ns less CPU time (190 to 210 ns): 90 ns less in scheduling and 80 ns less in locks, and 60 ns more in channels (chansend1).",
			true,
		},
		{
			"two groups, by their shares of what was counted",
			finding{diff: at(200), differs: true, cpu: counted(300, Interval{200, 190, 210}, 300, 200), profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 150, 350, changed("a", 0, 30), changed("b", 0, 30), changed("c", 0, 30), changed("d", 150, 260)),
			}},
			// d has had all of 300 ns, and has 260/350 of 500 ns.
			"new is 200 ns per operation slower than old and uses 200 ns more CPU time (190 to 210 ns): 71.4 ns more in d and 42.9 ns more in a.",
			true,
		},
		{
			"it is spread",
			finding{diff: at(200), differs: true, cpu: counted(300, Interval{200, 190, 210}, 300, 200), profiles: map[Kind]*Profile{
				CPU: cpuProfile(100_000, 300, 500, changed("a", 60, 90), changed("b", 60, 90), changed("c", 60, 90), changed("d", 60, 88), changed("e", 20, 42), changed("f", 20, 50), changed("g", 20, 50)),
			}},
			"new is 200 ns per operation slower than old and uses 200 ns more CPU time (190 to 210 ns), which is spread: the largest parts, 30 ns more in a, 30 ns more in b and 30 ns more in c, are less than half of it.",
			false,
		},
		{
			"ten percent more of one loop",
			// Samples alone would not tell 545 ns from nothing: three standard
			// deviations of their numbers are 1,013 ns.
			finding{diff: at(543), differs: true, cpu: counted(5590, Interval{545, 480, 610}, 5590, 540), sampled: 6 * time.Second, profiles: map[Kind]*Profile{CPU: {
				Kind: CPU, Base: Side{Total: 5591, Samples: 575}, This: Side{Total: 6136, Samples: 631},
				Groups: []Change{
					changed(ownCode, 5581, 6126, changed("tiny.Hash", 5581, 6126)),
					changed("scheduling", 10, 10, changed("runtime.findRunnable", 10, 10)),
				},
			}}},
			"new is 543 ns per operation slower than old and uses 545 ns more CPU time (480 to 610 ns): 545 ns more in its own code (tiny.Hash).",
			true,
		},
		{
			"waiting",
			finding{diff: at(8000), differs: true, cpu: counted(400, Interval{2, -5, 9}, 1000, 8000), profiles: map[Kind]*Profile{
				CPU:   cpuProfile(10_000, 400, 402, changed("scheduling", 100, 102)),
				Mutex: {Kind: Mutex, Base: Side{Total: 10}, This: Side{Total: 7000}},
			}},
			"new is 8 µs per operation slower than old, while its CPU time differs by less than half of that (-5 to 9 ns): the time is spent waiting; goroutines wait 6.99 µs per operation more for locks.",
			false,
		},
		{
			"waiting needs no samples",
			finding{diff: at(-8000), differs: true, cpu: counted(400, Interval{2, -5, 9}, 9000, -8000)},
			"new is 8 µs per operation faster than old, while its CPU time differs by less than half of that (-5 to 9 ns): it waits less.",
			false,
		},
		{
			"more CPU time is not the time",
			finding{diff: at(8000), differs: true, cpu: counted(400, Interval{400, 390, 410}, 1000, 8000)},
			"new is 8 µs per operation slower than old, but uses only 400 ns more CPU time (390 to 410 ns), less than half of that: the time is spent waiting.",
			false,
		},
		{
			"less in parallel",
			finding{diff: at(500), differs: true, cpu: counted(2000, Interval{20, 10, 30}, 1000, 500)},
			"new is 500 ns per operation slower than old, but uses only 20 ns more CPU time (10 to 30 ns), less than half of that: it waits more or does less in parallel.",
			false,
		},
		{
			"faster by more CPU time",
			finding{diff: at(-200), differs: true, cpu: counted(300, Interval{90, 80, 100}, 500, -200)},
			"new is 200 ns per operation faster than old, although it uses 90 ns more CPU time (80 to 100 ns): it waits less or does more in parallel.",
			false,
		},
		{
			"slower by less CPU time",
			finding{diff: at(200), differs: true, cpu: counted(300, Interval{-90, -100, -80}, 500, 200)},
			"new is 200 ns per operation slower than old, although it uses 90 ns less CPU time (80 to 100 ns): it waits more or does less in parallel.",
			false,
		},
		{
			"the interval holds half of it, and none, and all",
			// ±420 ns, where ±136 ns would do: 9.5 times as long.
			finding{diff: at(543), differs: true, cpu: counted(5590, Interval{300, -120, 720}, 5590, 540), counted: 2 * time.Second, profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 5590, 6130, changed(ownCode, 5590, 6130)),
			}},
			"new is 543 ns per operation slower than old; its CPU time cannot tell yet whether it computes or waits: that differs by 300 ns (-120 to 720 ns): --time 60s would do.",
			false,
		},
		{
			"the time itself is not counted well enough",
			finding{diff: at(400), differs: true, cpu: &CPUTime{Base: 100, Diff: Interval{0, -10, 10}, BaseWall: 1000, Wall: Interval{350, 50, 650}, Pairs: 8}, counted: 6 * time.Second},
			"new is 400 ns per operation slower than old; its CPU time cannot tell yet whether it computes or waits: that differs by 0 ns (-10 to 10 ns), and in the same processes the time itself by 350 ns (50 to 650 ns): --time 55s would do.",
			false,
		},
		{
			"less than in the results, and all of it CPU time",
			finding{diff: Interval{91.6, 19, 217}, differs: true, cpu: &CPUTime{Base: 1000, Diff: Interval{31, 28, 34}, BaseWall: 1000, Wall: Interval{30, 26, 33}, Pairs: 8}, profiles: map[Kind]*Profile{
				CPU: cpuProfile(600, 1000, 1031, changed(ownCode, 1000, 1031, changed("tiny.Hash", 1000, 1031))),
			}},
			"new is 91.6 ns per operation slower than old and uses 31 ns more CPU time (28 to 34 ns), where its time differs by 30 ns (26 to 33 ns): 31 ns more in its own code (tiny.Hash).",
			true,
		},
		{
			"the difference is not there",
			finding{diff: Interval{1.6, 0.9, 2.2}, differs: true, cpu: &CPUTime{Base: 40, Diff: Interval{0.01, -0.1, 0.1}, BaseWall: 40, Wall: Interval{0.05, -0.3, 0.4}, Pairs: 8}, counters: []Counter{
				{Name: "99th percentile", Key: "sched-p99-ns", Unit: "ns", Base: 56e3, This: 180e3, Moved: true},
			}},
			"new is 1.6 ns per operation slower than old in the results, but not in the 8 pairs of processes in which CPU time was counted: there the time differs by 0.05 ns (-0.3 to 0.4 ns), so there is nothing to explain.",
			false,
		},
		{
			"too few samples to say where",
			// A part with half of 60 ns has 30 ns, and three standard deviations of the
			// largest share are 60 ns: four times as many samples.
			finding{diff: at(60), differs: true, cpu: counted(600, Interval{60, 59, 61}, 600, 60), sampled: 6 * time.Second, profiles: map[Kind]*Profile{
				CPU: cpuProfile(500, 600, 660, changed("scheduling", 300, 350), changed("locks", 300, 310)),
			}},
			"new is 60 ns per operation slower than old and uses 60 ns more CPU time (59 to 61 ns); 500 and 500 samples are too few to say where: --time 25s would do.",
			false,
		},
		{
			"hardly any samples",
			finding{diff: at(200), differs: true, cpu: counted(300, Interval{200, 190, 210}, 300, 200), sampled: 6 * time.Second, profiles: map[Kind]*Profile{
				CPU: cpuProfile(50, 300, 500, changed("scheduling", 300, 500)),
			}},
			"new is 200 ns per operation slower than old and uses 200 ns more CPU time (190 to 210 ns); 50 and 50 samples are too few to say where: --time 15s would do.",
			false,
		},
		{
			"too few samples for functions",
			finding{diff: at(60), differs: true, cpu: counted(600, Interval{60, 59, 61}, 600, 60), sampled: 6 * time.Second, profiles: map[Kind]*Profile{
				CPU: cpuProfile(500, 600, 660, changed(ownCode, 600, 660, changed("x.f", 300, 350), changed("x.g", 300, 310))),
			}},
			"new is 60 ns per operation slower than old and uses 60 ns more CPU time (59 to 61 ns): 60 ns more in its own code; the samples are too few to say in which functions: --time 25s would do.",
			true,
		},
		{
			"no profile, but allocations and a counter",
			finding{
				diff: at(200), differs: true, cpu: counted(300, Interval{200, 190, 210}, 300, 200),
				profiles: map[Kind]*Profile{Alloc: {
					Kind: Alloc, Base: Side{Total: 16}, This: Side{Total: 64},
					Top: []Change{{Name: "a.f", Symbol: "x.org/a.f", Base: Cost{16, 16}, This: Cost{64, 64}}},
				}},
				counters: []Counter{
					{Name: "context switches", Key: "voluntary-switches", Unit: "/op", Base: 0.001, This: 0.5, Moved: true},
					{Name: "live heap", Key: "heap-live-B", Unit: "B", Base: 1000, This: 2000, Moved: true},
					{Name: "page faults", Key: "minor-faults", Unit: "/op", Base: 0, This: 9, Moved: false},
				},
			},
			"new is 200 ns per operation slower than old and uses 200 ns more CPU time (190 to 210 ns); there is no profile of it that would say where; it allocates 48 B per operation more, mostly in a.f; context switches: 0.5 per operation against 0.001; live heap: 2000 B against 1000 B.",
			false,
		},
		{
			"how much CPU time it is hardly known, and so neither the parts",
			// Of 1,000,000 samples, but 100 ns that are known to ±50.
			finding{diff: at(100), differs: true, cpu: counted(1000, Interval{100, 50, 150}, 1000, 100), sampled: 6 * time.Second, profiles: map[Kind]*Profile{
				CPU: cpuProfile(1_000_000, 1000, 1100, changed("scheduling", 900, 955), changed("locks", 100, 145)),
			}},
			"new is 100 ns per operation slower than old and uses 100 ns more CPU time (50 to 150 ns); 1000000 and 1000000 samples are too few to say where: --time 15s would do.",
			false,
		},
		{
			"not counted, but sampled well enough",
			finding{diff: at(200), differs: true, profiles: map[Kind]*Profile{CPU: cpuProfile(10_000, 300, 500, changed("scheduling", 100, 300), changed("locks", 200, 200))}},
			"new is 200 ns per operation slower than old and uses 200 ns more CPU time (183 to 217 ns): 200 ns more in scheduling.",
			true,
		},
		{
			"not counted, and samples see nothing",
			finding{diff: at(8000), differs: true, profiles: map[Kind]*Profile{CPU: cpuProfile(10_000, 300, 300, changed("scheduling", 300, 300))}},
			"new is 8 µs per operation slower than old; its CPU time was not counted, which would say whether it computes or waits.",
			false,
		},
		{
			"not proven",
			finding{
				diff: at(10), cpu: counted(300, Interval{10, 9, 11}, 300, 10),
				profiles: map[Kind]*Profile{
					CPU:   cpuProfile(10_000, 300, 310, own),
					Alloc: {Kind: Alloc, Base: Side{Total: 16}, This: Side{Total: 64}},
				},
				counters: []Counter{{Name: "context switches", Key: "voluntary-switches", Unit: "/op", Base: 0.001, This: 0.5, Moved: true}},
			},
			"new and old are not shown to differ: there is nothing to explain.",
			false,
		},
	} {
		c.f.baseName, c.f.thisName = "old", "new"
		got, explained := c.f.sentence()
		if got != c.want || explained != c.explained {
			t.Errorf("%s:\n got  %v %s\n want %v %s", c.name, explained, got, c.explained, c.want)
		}
	}
}

// What is said beside the time is what differs by enough: allocations by a byte and a twentieth,
// waits for locks by a tenth of the difference and a nanosecond.
func TestCircumstances(t *testing.T) {
	function := func(name string, base, this, own float64) Change {
		return Change{Name: name, Symbol: "x.org/" + name, Base: Cost{Flat: base, Cum: base}, This: Cost{Flat: base + own, Cum: this}}
	}
	for _, c := range []struct {
		kind             Kind
		base, this, diff float64
		top              []Change
		want             string
	}{
		{Alloc, 0, 1, 9, nil, "it allocates 1 B per operation more"},
		{Alloc, 0, 0.9, 9, nil, ""},
		{Alloc, 95, 100, 9, nil, "it allocates 5 B per operation more"},
		{Alloc, 95.1, 100, 9, nil, ""},
		{Alloc, 100, 90, 9, nil, "it allocates 10 B per operation less"},
		{Alloc, 0, 10, 9, []Change{function("a.f", 0, 5, 5)}, "it allocates 10 B per operation more, mostly in a.f"},
		{Alloc, 0, 10, 9, []Change{function("a.f", 0, 4, 4)}, "it allocates 10 B per operation more"},
		{Alloc, 0, 10, 9, []Change{function("a.f", 9, 0, -9), function("a.g", 0, 6, 6)}, "it allocates 10 B per operation more, mostly in a.g"},
		{Alloc, 0, 10, 9, []Change{function("a.f", 9, 3, 6)}, "it allocates 10 B per operation more"}, // its callees less
		{Mutex, 0, 10, 100, nil, "goroutines wait 10 ns per operation more for locks"},
		{Mutex, 0, 9.9, 100, nil, ""},
		{Mutex, 0, 0.9, 5, nil, ""},
		{Mutex, 2, 1, -5, nil, "goroutines wait 1 ns per operation less for locks"},
	} {
		f := finding{diff: at(c.diff), profiles: map[Kind]*Profile{c.kind: {Kind: c.kind, Base: Side{Total: c.base}, This: Side{Total: c.this}, Top: c.top}}}
		if got := strings.Join(f.circumstances(), "; "); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestNanos(t *testing.T) {
	for ns, want := range map[float64]string{0: "0 ns", 0.5: "0.5 ns", 99.94: "99.9 ns", 999.4: "999 ns", 999.5: "1 µs", -999.5: "-1 µs", 1234: "1.23 µs", 999_500: "1 ms", 2e9: "2 s", 12345e9: "12345 s"} {
		if got := nanos(ns); got != want {
			t.Errorf("%v is %s, want %s", ns, got, want)
		}
	}
}

// A side that uses a twentieth more CPU time than time has shared its work.
func TestParallel(t *testing.T) {
	for _, c := range []struct {
		base, diff, baseWall, wall float64
		want                       bool
	}{{104, 0, 100, 0, false}, {106, 0, 100, 0, true}, {100, 10, 100, 5, false}, {100, 11, 100, 5, true}, {106, -10, 100, 0, true}} {
		if got := (&CPUTime{Base: c.base, Diff: at(c.diff), BaseWall: c.baseWall, Wall: at(c.wall)}).parallel(); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
