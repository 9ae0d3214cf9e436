package workloads

// poolTasks is how many tasks a group of the workload has.
const poolTasks = 100_000

// groupPool is what pools of goroutines are advertised for: so many tiny tasks that what a group
// or a pool costs by itself does not matter.
func groupPool() []Workload {
	newBatch := func() *batch { return tinyTasks(poolTasks, shortLimit) }
	pool := Workload{
		Name:    "pool",
		Doc:     "groups of 100,000 tiny tasks, at most 32 at once, all submitted before a result is taken: what pools are made for",
		Checked: checkedBatch,
		Slicing: Slicing{Unit: poolTasks},
		Prepare: func(st Setting) Run { return newBatch().onGroup(st.Impl.NewGroup) },
		Refs:    batchRefs(newBatch, 0),
	}
	all := pool
	all.Variant = "by=all"
	all.Doc = "the same tasks by one `GoAll`: what is left of a task's costs when it is known that there are many"
	all.Prepare = func(st Setting) Run {
		b := newBatch()
		b.atOnce = true
		return b.onGroup(st.Impl.NewGroup)
	}
	all.Refs = append(batchRefs(newBatch, 0), Ref{
		refWorkers, "a worker for each processor between a buffered channel of tasks and one of results",
		func(Setting) Run { return newBatch().onWorkers() },
	})
	return []Workload{pool, all}
}
