package workloads

const streamTasks = 100_000

// groupStream is a stage of a pipeline: a long row of small jobs.
func groupStream() []Workload {
	return []Workload{{
		Name:    "stream",
		Doc:     "100,000 trivial tasks through one group, 32 at most in flight, taken while they are submitted: a stage of a pipeline",
		Checked: checkedFlow,
		// No Slicing: 20,000 tasks, some milliseconds, are a stream as well.
		Prepare: func(st Setting) Run { return newFlow(streamTasks).onGroup(st.Impl.NewGroup, 1) },
		Refs:    flowRefs(streamTasks, 1),
	}}
}
