package workloads

import "strconv"

// ringSize is how many actors the ring has that stands for all.
const ringSize = 100

// Ring is PingPong with more than two: the same hop, with an actor each time
// that has not run for a while.
func Ring() Actor {
	return ring(ringKind{count: 1, size: ringSize}, "")
}

// RingCurve is Ring with as many actors as its variants say: how the price of a
// hop rises when whoever is reached again has left the processor's caches
// meanwhile, for none has a second message before all others have had one.
//
// With actors=… the token takes the way in which the actors were made, and the
// processor sees it coming. With shuffled=… nobody can foresee who is next, so
// that of a million actors each is fetched from memory first.
func RingCurve() []Actor {
	var curve []Actor
	for _, size := range []int{2, 10, 1000, 10_000, 100_000, 1_000_000} {
		curve = append(curve, ring(ringKind{count: 1, size: size}, "actors="+strconv.Itoa(size)))
	}
	for _, size := range []int{1000, 10_000, 100_000, 1_000_000} {
		curve = append(curve, ring(ringKind{count: 1, size: size, shuffled: true}, "shuffled="+strconv.Itoa(size)))
	}
	return curve
}

func ring(k ringKind, variant string) Actor {
	a := bareRing(k, variant)
	a.Refs = append(k.refs(), k.floor())
	return a
}

// bareRing is ring without references.
func bareRing(k ringKind, variant string) Actor {
	return Actor{
		Name:    "ring",
		Variant: variant,
		Doc:     "a message goes round a ring of 100 actors, or the number given: a hop to an actor that has not run for a while",
		Actors:  k.size,
		Slicing: ringSlicing(k.size),
		Prepare: k.onActors,
	}
}
