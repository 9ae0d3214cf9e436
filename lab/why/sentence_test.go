package why

import "testing"

// cpuProfile is a comparison of CPU profiles with so many samples on both sides.
func cpuProfile(samples int64, base, this float64, groups ...Change) *Profile {
	return &Profile{Kind: CPU, Base: Side{Total: base, Samples: samples}, This: Side{Total: this, Samples: samples}, Groups: groups}
}

func changed(name string, base, this float64, main ...string) Change {
	return Change{Name: name, Base: Cost{Flat: base}, This: Cost{Flat: this}, Main: main}
}

func TestSentence(t *testing.T) {
	own := changed(ownCode, 100, 110)
	for _, c := range []struct {
		name      string
		f         finding
		want      string
		explained bool
	}{
		{
			"one group is most of it",
			finding{base: 300, this: 500, differs: true, profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 400, 640, changed("scheduling", 100, 280, "runtime.findRunnable", "runtime.stopm"), changed("allocating", 0, 50), own),
			}},
			"new is 200 ns per operation slower than old and uses 240 ns more CPU time: 180 ns more in scheduling (findRunnable, stopm).",
			true,
		},
		{
			"two groups, and one against them",
			finding{base: 500, this: 300, differs: true, profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 600, 400, changed("scheduling", 190, 100), changed("locks", 160, 80), changed("channels", 0, 60, "runtime.chansend1"), own),
			}},
			"new is 200 ns per operation faster than old and uses 200 ns less CPU time: 90 ns less in scheduling and 80 ns less in locks, and 60 ns more in channels (chansend1).",
			true,
		},
		{
			"nothing is half of it",
			finding{base: 300, this: 500, differs: true, profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 300, 500, changed("a", 0, 30), changed("b", 0, 30), changed("c", 0, 30), changed("d", 0, 30), changed("e", 0, 30)),
			}},
			"new is 200 ns per operation slower than old and uses 200 ns more CPU time, which is spread: the largest parts, 30 ns more in a, 30 ns more in b and 30 ns more in c, are less than half of it.",
			false,
		},
		{
			"waiting",
			finding{base: 1000, this: 9000, differs: true, profiles: map[Kind]*Profile{
				CPU:   cpuProfile(10_000, 400, 402, changed("scheduling", 100, 102)),
				Mutex: {Kind: Mutex, Base: Side{Total: 10}, This: Side{Total: 7000}},
			}},
			"new is 8 µs per operation slower than old, with the same CPU time (402 ns against 400 ns, within what sampling tells apart): no function explains it, the time is spent waiting; goroutines wait 6.99 µs per operation more for locks.",
			false,
		},
		{
			"more CPU time is not the time",
			finding{base: 1000, this: 9000, differs: true, profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 400, 800, changed("scheduling", 100, 500)),
			}},
			"new is 8 µs per operation slower than old and uses 400 ns more CPU time: 400 ns more in scheduling; that is less than half of the difference, the rest is waiting.",
			false,
		},
		{
			"faster by more CPU time",
			finding{base: 500, this: 300, differs: true, profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 500, 590, changed("scheduling", 100, 190)),
			}},
			"new is 200 ns per operation faster than old, although it uses 90 ns more CPU time: no function explains that, it runs more in parallel or waits less.",
			false,
		},
		{
			"slower by less CPU time",
			finding{base: 300, this: 500, differs: true, profiles: map[Kind]*Profile{
				CPU: cpuProfile(10_000, 590, 500, changed("scheduling", 190, 100)),
			}},
			"new is 200 ns per operation slower than old, although it uses 90 ns less CPU time: no function explains that, it runs less in parallel or waits more.",
			false,
		},
		{
			"too few samples",
			finding{base: 300, this: 500, differs: true, profiles: map[Kind]*Profile{CPU: cpuProfile(499, 300, 500, changed("scheduling", 100, 300))}},
			"new is 200 ns per operation slower than old, and the profiles of CPU time have too few samples to say why (499 and 499).",
			false,
		},
		{
			"too few samples on one side",
			finding{base: 300, this: 500, differs: true, profiles: map[Kind]*Profile{CPU: {
				Kind: CPU, Base: Side{Total: 300, Samples: 99}, This: Side{Total: 500, Samples: 10_000}, Groups: []Change{changed("scheduling", 100, 300)},
			}}},
			"new is 200 ns per operation slower than old, and the profiles of CPU time have too few samples to say why (99 and 10000).",
			false,
		},
		{
			"no profile, but allocations and a counter",
			finding{
				base: 300, this: 500, differs: true,
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
			"new is 200 ns per operation slower than old, and there is no profile of CPU time that would say why; it allocates 48 B per operation more, mostly in a.f; context switches: 0.5 per operation against 0.001; live heap: 2000 B against 1000 B.",
			false,
		},
		{
			"not proven",
			finding{base: 300, this: 310, profiles: map[Kind]*Profile{CPU: cpuProfile(10_000, 300, 300.1, own)}},
			"new and old are not shown to differ, with the same CPU time (300 ns against 300 ns, within what sampling tells apart).",
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
