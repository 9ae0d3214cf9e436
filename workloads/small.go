package workloads

// This file is for machines with some 64 KiB of memory and little room for programs:
// the workloads that fit, without references, which are there to be compared with
// on a host and carry errgroup and package fmt with it.
//
// A workload has the same name here and in the lists of all if it is the same. Two
// would not fit and are made smaller, under names of their own: a figure says
// nothing about the larger one.

const (
	smallTasks = 32
	smallLimit = 8
	smallRing  = 10
	smallPairs = 10
)

// SmallGroups returns the workloads over the task-group contract that fit into 64 KiB.
func SmallGroups() []Group {
	return []Group{{
		Name:    "short",
		Variant: "tasks=32",
		Doc:     "groups of 32 tiny tasks, at most 8 at once: short failfast=off where memory is scarce",
		Slicing: Slicing{Unit: smallTasks},
		Prepare: func(newGroup NewGroup) Run { return tinyTasks(smallTasks, smallLimit).onGroup(newGroup) },
	}}
}

// SmallActors returns the workloads over the actor contract that fit into 64 KiB, the
// open loops if their Setting asks for a short Ring.
func SmallActors() []Actor {
	return []Actor{
		bareAsk(),
		{
			Name:    "big",
			Variant: "actors=16",
			Doc:     "16 actors send pings to random others and answer theirs: big where memory is scarce",
			Slicing: Slicing{Unit: 2 * bigFew},
			Prepare: func(st Setting) Run { return bigOnActors(st, bigFew) },
		},
		bareCount(),
		latency1k.bare(),
		barePairs(smallPairs, "actors=20"),
		barePingPong(),
		restartKind{}.bare("", restartDoc),
		bareRing(ringKind{count: 1, size: ringSize}, ""),
		bareRing(ringKind{count: 1, size: smallRing}, "actors=10"),
		bareSpawnRate(),
	}
}
