package bench

// Reason says why no board is asked for a workload of the host.
type Reason struct {
	Bench string // "Actor", "Group" or "Task"
	Path  string // of the workload, or the beginning of several's
	Why   string // half a sentence
}

// LeftOut returns the workloads of the host that are no cases here. It is for
// documents and tests; a firmware that does not name it does not carry it.
func LeftOut() []Reason {
	return []Reason{
		{"Actor", "workload=ask/from=outside", "a goroutine waits for an actor, which is woken by nobody where one goroutine does everything; ask between actors is there"},
		{"Actor", "workload=backpressure", "4 goroutines that wait have a stack each, and 4 tables of 1,021 messages take 48 KiB"},
		{"Actor", "workload=big", "120 actors take more than half of 64 KiB; big/actors=16 stands for it"},
		{"Actor", "workload=blocked", "1,000 actors, and handlers that sleep stop a machine that has one goroutine"},
		{"Actor", "workload=chameneos", "101 actors take more than half of 64 KiB; big/actors=16 has random partners as well"},
		{"Actor", "workload=count/", "floods of 10,000 messages and more, all of which wait at once; count is there"},
		{"Actor", "workload=fanin", "a table of 1,021 messages for each sender, 12 KiB, so for 8 of them 96"},
		{"Actor", "workload=fanout", "1,000 actors, with 64 messages under way to each"},
		{"Actor", "workload=forkjoin", "up to 8,191 actors at once"},
		{"Actor", "workload=hot", "10,000 actors"},
		{"Actor", "workload=idlewake", "nothing is woken where one goroutine does everything; latency1k has the same way without it"},
		{"Actor", "workload=latency100k", "a message every 10 µs is more than a processor of some megahertz can handle, so the backlog would grow"},
		{"Actor", "workload=pairs", "2,000 actors, or up to a million; pairs/actors=20 is there"},
		{"Actor", "workload=payload", "64 bytes for each of up to 1,024 messages that wait"},
		{"Actor", "workload=priority", "256 jobs and their mailbox fit, but a board's report has no use for it yet"},
		{"Actor", "workload=restart/", "variants of one storm, which restart is enough to judge"},
		{"Actor", "workload=ring/", "the curve goes up to a million actors; ring and ring/actors=10 are there"},
		{"Actor", "workload=spawn", "100,000 actors at a time; spawn/rate=1000 and Board/case=actor-memory are there"},
		{"Actor", "workload=suspend", "its times of single cycles would have to be kept, several thousand of them"},
		{"Actor", "workload=timers", "100,000 timers at a time"},
		{"Actor", "workload=together", "tasks and groups keep a goroutine each where they wait, so a stack of its own"},
		{"Group", "workload=", "256 tasks or more in a group, each with a closure, a place among the results and a mark; short/tasks=32 stands for them"},
		{"Task", "workload=", "every task that waits keeps a goroutine, so a stack of its own, and problems begin with a thousand of them; the clauses of executors are there"},
	}
}
