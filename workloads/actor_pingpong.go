package workloads

// actorPingPong is two actors that send a message back and forth: the least there is,
// and all of it latency. No two messages are under way at once, so an implementation that
// hands the work to another processor at every hop pays for waking it.
func actorPingPong() []Workload {
	a := barePingPong()
	a.Checked = checkedRings
	a.On = pingPongRing.onFramework
	a.Refs = pingPongRing.refs()
	return []Workload{a}
}

// pingPongRing: two actors that send a message back and forth are a ring.
var pingPongRing = ringKind{count: 1, size: 2}

// barePingPong is actorPingPong without references.
func barePingPong() Workload {
	return Workload{
		Name:    "pingpong",
		Doc:     "two actors send a message back and forth: what a hop costs when nothing else is to be done",
		Prepare: pingPongRing.onActors,
	}
}
