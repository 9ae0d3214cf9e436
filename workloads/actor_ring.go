package workloads

import "strconv"

// ringSize is how many actors the ring has that stands for all.
const ringSize = 100

// actorRing is [actorPingPong] with more than two: the same hop, with an actor each time that has
// not run for a while. The curve says how the price of a hop rises when the actor that is
// reached again has left the processor's caches meanwhile, for none has a second message
// before all others have had one.
//
// With actors=… the token takes the way in which the actors were made, and the
// processor sees it coming. With shuffled=… the next one cannot be foreseen, so
// that of a million actors each is fetched from memory first.
func actorRing() []Workload {
	all := []Workload{ring(ringKind{count: 1, size: ringSize}, "")}
	for _, size := range []int{2, 10, 1000, 10_000, 100_000, 1_000_000} {
		all = append(all, ring(ringKind{count: 1, size: size}, "actors="+strconv.Itoa(size)))
	}
	for _, size := range []int{1000, 10_000, 100_000, 1_000_000} {
		all = append(all, ring(ringKind{count: 1, size: size, shuffled: true}, "shuffled="+strconv.Itoa(size)))
	}
	return all
}

func ring(k ringKind, variant string) Workload {
	a := bareRing(k, variant)
	a.Checked = checkedRings
	if k.size != ringSize && k.size != 10 || k.shuffled {
		a.TooBig = "the curve goes up to a million actors; ring and ring/actors=10 are there"
	}
	a.On = k.onFramework
	a.Refs = append(k.refs(), k.floor())
	return a
}

// bareRing is ring without references.
func bareRing(k ringKind, variant string) Workload {
	return Workload{
		Name:    "ring",
		Variant: variant,
		Doc:     "a message goes round a ring of 100 actors, or the number given: a hop to an actor that has not run for a while",
		Actors:  k.size,
		Slicing: ringSlicing(k.size),
		Prepare: k.onActors,
	}
}
