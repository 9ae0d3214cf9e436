package workloads

const streamTasks = 100_000

// Stream is a stage of a pipeline: a long row of small jobs goes through one
// group, one goroutine submits, another takes the results meanwhile.
func Stream() Group {
	return Group{
		Name: "stream",
		Doc:  "100,000 trivial tasks through one group, 32 at most in flight, taken while they are submitted: a stage of a pipeline",
		// No Slicing: 20,000 tasks, some milliseconds, are a stream as well.
		Prepare: func(newGroup NewGroup) Run { return newFlow(streamTasks).onGroup(newGroup, 1) },
		Refs:    flowRefs(streamTasks, 1),
	}
}
