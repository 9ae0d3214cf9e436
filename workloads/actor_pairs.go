package workloads

import "strconv"

// pairsCount is how many pairs there are unless the variant says otherwise.
const pairsCount = 1000

// Pairs is PingPong a thousand times at once: there is always work for every
// processor, and fairness between the pairs is not asked for.
func Pairs() Actor {
	return pairs(pairsCount, "")
}

// PairsCurve is Pairs with as many actors as its variants say: how the price of
// a message rises when all of them have one and do not fit into a processor's
// caches. A scheduler may let a pair go on for a while; with [RingCurve] it
// cannot.
func PairsCurve() []Actor {
	var curve []Actor
	for _, actors := range []int{2, 20, 200, 20_000, 200_000, 1_000_000} {
		curve = append(curve, pairs(actors/2, "actors="+strconv.Itoa(actors)))
	}
	return curve
}

func pairs(count int, variant string) Actor {
	a := barePairs(count, variant)
	a.Refs = ringKind{count: count, size: 2}.refs()
	return a
}

// barePairs is pairs without references.
func barePairs(count int, variant string) Actor {
	return Actor{
		Name:    "pairs",
		Variant: variant,
		Doc:     "1,000 pairs of actors, or the number given, send a message to and fro all at once: whether many hops at once cost less",
		Actors:  2 * count,
		Slicing: ringSlicing(2 * count),
		Prepare: ringKind{count: count, size: 2}.onActors,
	}
}
