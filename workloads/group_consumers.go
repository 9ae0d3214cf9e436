package workloads

const (
	consumersTasks = 10_000
	consumersCount = 8
)

// groupConsumers is [groupStream] with goroutines that compete for the results of one group.
func groupConsumers() []Workload {
	return []Workload{{
		Name:    "consumers",
		Doc:     "10,000 trivial tasks through one group with 8 goroutines in Next: whether takers get into each other's way",
		Checked: checkedFlow + "; that every taker is released",
		Slicing: Slicing{Unit: consumersTasks},
		Prepare: func(st Setting) Run { return newFlow(consumersTasks).onGroup(st.Impl.NewGroup, consumersCount) },
		Refs:    flowRefs(consumersTasks, consumersCount),
	}}
}
