package workloads

// PingPong is two actors that send a message to and fro: the least there is,
// and all of it latency. No two messages are under way at once, so whoever
// hands the work to another processor at every hop pays for waking it.
func PingPong() Actor {
	a := barePingPong()
	a.Refs = pingPongRing.refs()
	return a
}

// pingPongRing: two actors that send a message to and fro are a ring.
var pingPongRing = ringKind{count: 1, size: 2}

// barePingPong is PingPong without references.
func barePingPong() Actor {
	return Actor{
		Name:    "pingpong",
		Doc:     "two actors send a message to and fro: what a hop costs when nothing else is to be done",
		Prepare: pingPongRing.onActors,
	}
}
