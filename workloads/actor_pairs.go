package workloads

import "strconv"

// pairsCount is how many pairs there are unless the variant says otherwise.
const pairsCount = 1000

// actorPairs is [actorPingPong] a thousand times at once: there is always work for every
// processor, and fairness between the pairs is not asked for. The curve says how the price of
// a message rises when all of the actors have one and do not fit into a processor's
// caches. A scheduler may let a pair go on for a while; with [actorRing] it cannot.
func actorPairs() []Workload {
	all := []Workload{pairs(pairsCount, "")}
	for _, actors := range []int{2, 20, 200, 20_000, 200_000, 1_000_000} {
		all = append(all, pairs(actors/2, "actors="+strconv.Itoa(actors)))
	}
	return all
}

func pairs(count int, variant string) Workload {
	a := barePairs(count, variant)
	a.Checked = checkedRings
	if count != 10 {
		a.TooBig = "2,000 actors, or up to a million; pairs/actors=20 is there"
	}
	k := ringKind{count: count, size: 2}
	a.On, a.Refs = k.onFramework, k.refs()
	return a
}

// barePairs is pairs without references.
func barePairs(count int, variant string) Workload {
	return Workload{
		Name:    "pairs",
		Variant: variant,
		Doc:     "1,000 pairs of actors, or the number given, send a message back and forth all at once: whether many hops at once cost less",
		Actors:  2 * count,
		Slicing: ringSlicing(2 * count),
		Prepare: ringKind{count: count, size: 2}.onActors,
	}
}
