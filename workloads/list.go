package workloads

import (
	"iter"
	"slices"
)

// All returns every workload, in the order in which tables show them.
func All() []Workload {
	return slices.Concat(
		over(GroupContract,
			"256 tasks or more in a group, each with a closure, a place among the results and a mark; short/tasks=32 stands for them",
			groupCancel(),
			groupConsumers(),
			groupMixed(),
			groupNested(),
			groupPool(),
			groupShort(),
			groupStream(),
			groupUneven(),
		),
		over(ActorContract, "",
			actorAsk(),
			actorBackpressure(),
			actorBig(),
			actorBlocked(),
			actorChameneos(),
			actorCount(),
			actorFanIn(),
			actorFanOut(),
			actorForkJoin(),
			actorHogs(),
			actorHot(),
			actorLatency(),
			actorPairs(),
			actorPayload(),
			actorPingPong(),
			actorPriority(),
			actorRestart(),
			actorRing(),
			savinaAPSP(),
			savinaAStar(),
			savinaBanking(),
			savinaBarber(),
			savinaBndBuffer(),
			savinaConcDict(),
			savinaConcSLL(),
			savinaFjThrput(),
			savinaLogmap(),
			savinaPhilosopher(),
			savinaSieve(),
			savinaUCT(),
			actorSpawn(),
			actorSuspend(),
			actorSyscalls(),
			actorTimers(),
			actorTogether(),
		),
		over(TaskContract,
			"every task that waits keeps a goroutine, so a stack of its own, and problems begin with a thousand of them; the clauses of executors are there",
			taskCancel(),
			taskFib(),
			taskMatmul(),
			taskParfor(),
			taskPipeline(),
			taskQueens(),
			taskQuicksort(),
			taskShared(),
			taskSpawnAwait(),
			taskTree(),
			taskYield(),
		),
	)
}

// over returns the workloads over a contract. tooBig is why boards are not asked for those
// that do not say it themselves.
func over(c Contract, tooBig string, lists ...[]Workload) []Workload {
	all := slices.Concat(lists...)
	for i := range all {
		all[i].Contract = c
		if all[i].TooBig == "" {
			all[i].TooBig = tooBig
		}
	}
	return all
}

// Small yields the workloads that fit into 64 KiB, without references, which are there to
// be compared with on a host and carry errgroup and package fmt with them; the open loops
// fit if their Setting asks for a short Ring. Most are those of [All]. Two would not fit and are
// made smaller, under names of their own: a figure says nothing about the larger one. Each is
// made when it is its turn: a list of them, 4 KiB, would be in the memory of all.
func Small() iter.Seq[Workload] {
	return func(yield func(Workload) bool) {
		for _, bare := range [...]func() Workload{
			bareAsk,
			func() Workload { return bareBig(16) },
			bareCount,
			latency1k.bare,
			func() Workload { return barePairs(10, "actors=20") },
			barePingPong,
			bareRestart,
			func() Workload { return bareRing(ringKind{count: 1, size: ringSize}, "") },
			func() Workload { return bareRing(ringKind{count: 1, size: 10}, "actors=10") },
			bareSpawnRate,
		} {
			w := bare()
			w.Contract = ActorContract
			if !yield(w) {
				return
			}
		}
		w := bareShort(32, 8)
		w.Contract = GroupContract
		yield(w)
	}
}
