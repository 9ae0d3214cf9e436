package workloads

const (
	consumersTasks = 10_000
	consumersCount = 8
)

// Consumers is Stream with eight goroutines that compete for the results of one
// group. All of them must be released when it is drained.
func Consumers() Group {
	return Group{
		Name:    "consumers",
		Doc:     "10,000 trivial tasks through one group with 8 goroutines in Next: whether takers get into each other's way",
		Slicing: Slicing{Unit: consumersTasks},
		Prepare: func(newGroup NewGroup) Run { return newFlow(consumersTasks).onGroup(newGroup, consumersCount) },
		Refs:    flowRefs(consumersTasks, consumersCount),
	}
}
