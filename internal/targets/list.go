package targets

import "slices"

// All returns every target, those that are required first. The caller may change
// the slice.
func All() []Target {
	return slices.Concat(required(), groupAims(), taskAims(), actorAims(), remoteAims())
}

// In nanoseconds.
const (
	millisecond = 1e6
	second      = 1e9
)

// required are those of the requirements' lines.
func required() []Target {
	all := []Target{
		{
			ID: "V11/rate", Says: "a million messages are handled in a second",
			Workload: "count", Metric: "ns/op", PerSecond: true, Unit: "msgs/s", Limit: 1e6, Bound: AtLeast, Where: Host,
			Note: "derived: 1 s ÷ ns/op",
		},
		{
			ID: "V11/latency", Says: "a message takes less than 1 ms on average",
			Workload: "latency1k", Metric: "mean-ns", Limit: millisecond, Where: Host,
			Note: "from the moment it is due until it is handled",
		},
		{
			ID: "V11/actors", Says: "10,000 actors live at once",
			Workload: "spawn", Metric: "actors", Limit: 10_000, Bound: AtLeast, Statistic: Worst, Where: Host,
			Note: "the most that were there and idle at once",
		},
		{
			ID: "V11/memory", Says: "an idle actor takes less than 1 KiB",
			Workload: "spawn", Metric: "B/actor", Limit: 1 << 10, Where: Host,
			Note: "with the workload's own 16 bytes",
		},
		{
			ID: "SC-001/host", Says: "a new actor handles its first message within 5 ms",
			Workload: "spawn/rate=1000", Metric: "max-ns", Limit: 5 * millisecond, Statistic: Worst, Where: Host,
			Note: "the slowest of all, from the moment it is due: the longer one measures, the slower it is",
		},
		{
			ID: "SC-001/board", Says: "a new actor handles its first message within 20 ms",
			Workload: "spawn/rate=1000", Metric: "max-ns", Limit: 20 * millisecond, Statistic: Worst, Where: Board,
			Note: "the slowest, as on the host",
		},
		{
			ID: "SC-002", Says: "1,000 messages a second: no more than 10 wait",
			Workload: "latency1k", Metric: "backlog", Unit: "waiting", Limit: 10, Timed: true, Where: Anywhere,
			Note: "the most of a block; a run that drops a message has no figure",
		},
		{
			ID: "SC-003", Says: "95 of 100 injected failures are recovered from",
			Workload: "restart", Metric: "recovered-%", Unit: "%", Limit: 95, Bound: AtLeast, Statistic: Worst, Where: Anywhere,
		},
		{
			ID: "SC-004", Says: "every undelivered message is found",
			Workload: "restart", Metric: "undelivered-found-%", Unit: "%", Limit: 100, Bound: AtLeast, Statistic: Worst, Where: Anywhere,
		},
	}
	for _, w := range []struct {
		name  string
		where Place // pairs and fanin need more memory than a board has
	}{{"pingpong", Anywhere}, {"ring", Anywhere}, {"pairs", Host}, {"count", Anywhere}, {"fanin", Host}, {"ask", Anywhere}} {
		all = append(all, Target{
			ID: "SC-005/" + w.name, Says: "no allocation per message",
			Workload: w.name, Metric: "allocs/msg", Limit: 0.01, Where: w.where,
			Note: "what a mailbox allocates while it grows is spread over the messages of a run",
		})
	}
	all = append(all,
		Target{
			ID: "FR-014", Says: "1,000 messages back and forth within 1 s",
			Workload: "pingpong", Metric: "ns/op", Times: 1000, Unit: "ns", Limit: second, Where: Anywhere,
			Note: "derived: 1,000 × ns/op",
		},
		Target{
			ID: "S5/cycle", Says: "suspend and resume within 1 ms at p99",
			Workload: "suspend", Metric: "cycle-p99-ns", Limit: millisecond, Where: Host,
		},
		Target{
			ID: "S5/resume", Says: "first message within 10 ms of resume at p99",
			Workload: "suspend", Metric: "resume-p99-ns", Limit: 10 * millisecond, Where: Host,
		},
	)
	for i := range all {
		all[i].Bench, all[i].Required = "Actor", true
	}
	all = append(all, Target{
		ID: "FR-013", Says: "32 actors with bounded mailboxes leave memory free",
		Bench: boardBench, Workload: "32-actors", Metric: "heap-free-B", Unit: "B", Limit: 1, Bound: AtLeast, Statistic: Worst,
		Required: true, Where: Board,
		Note: "heap that is not in use while all of them are there",
	})
	return all
}

// groupAims are what the implementations of task groups are built for.
func groupAims() []Target {
	return []Target{
		timeAim("Group", "short/failfast=off", "workstealing", "ref-errgroup", 0.22),
		timeAim("Group", "stream", "workstealing", "ref-errgroup", 0.22),
		timeAim("Group", "nested", "workstealing", "ref-errgroup", 0.5),
		timeAim("Group", "mixed", "workstealing", "ref-goroutines", 1),
		timeAim("Group", "uneven", "workstealing", "ref-floor", 1.15),
		timeAim("Group", "short/failfast=off", "lockbased", "ref-errgroup", 1.5),
		timeAim("Group", "short/failfast=off", "actorloop", "ref-errgroup", 2),
		timeAim("Group", "short/failfast=off", "channel", "ref-errgroup", 1.5),
		timeAim("Group", "short/failfast=off", "serial", "ref-errgroup", 1.5),
	}
}

// taskAims are what the implementations of executors are built for.
func taskAims() []Target {
	all := []Target{
		timeAim("Task", "fib", "workstealing", "ref-errgroup", 0.15),
		timeAim("Task", "tree", "workstealing", "ref-errgroup", 0.15),
		timeAim("Task", "fib/by=join", "workstealing", "ref-errgroup", 0.15),
		timeAim("Task", "tree/by=join", "workstealing", "ref-errgroup", 0.15),
		timeAim("Task", "spawnawait", "workstealing", "ref-errgroup", 0.5),
		timeAim("Task", "shared", "workstealing", "ref-goroutines", 1),
	}
	for _, w := range []string{"fib", "tree", "spawnawait"} {
		all = append(all, aim("Task", w, "workstealing", "allocs/task", "/allocations", "allocations per future, with the workers' own", 1.01))
	}
	for _, w := range []string{"fib/by=join", "tree/by=join"} {
		all = append(all, aim("Task", w, "workstealing", "allocs/task", "/allocations", "allocations per call, with those that other workers take", 0.01))
	}
	return all
}

// actorAims are what the implementations of the actor contract are built for.
func actorAims() []Target {
	const (
		ws       = "workstealing"
		channels = "ref-chan-buffered"
	)
	all := []Target{
		timeAim("Actor", "pingpong", ws, channels, 0.25),
		timeAim("Actor", "ring", ws, channels, 0.25),
		timeAim("Actor", "pairs", ws, channels, 0.18),
		timeAim("Actor", "big", ws, channels, 0.33),
		timeAim("Actor", "count", ws, channels, 0.45),
		timeAim("Actor", "count/limit=none", ws, channels, 0.8),
		timeAim("Actor", "count/limit=none/messages=100000", ws, channels, 0.8),
		timeAim("Actor", "count/limit=none/messages=10000", ws, channels, 0.8),
		timeAim("Actor", "fanin", ws, channels, 0.5),
		timeAim("Actor", "fanin/producers=64/limit=none", ws, channels, 0.7),
		timeAim("Actor", "fanin/producers=64/from=outside", ws, channels, 1),
		timeAim("Actor", "ask", ws, channels, 0.2),
		timeAim("Actor", "ask/from=outside", ws, channels, 1),
		timeAim("Actor", "ask/from=outside/by=future", ws, channels, 1),
		timeAim("Actor", "blocked", ws, "ref-goroutines", 1.5),
		timeAim("Actor", "spawn", ws, channels, 0.3),
		aim("Actor", "spawn", ws, "B/actor", "/memory", "memory of an idle actor", 320),
		timeAim("Actor", "syscalls", ws, channels, 1.1),
		latencyAim("idlewake", "p50-ns", "median", 1.5),
		latencyAim("latency1k", "p50-ns", "median", 1.3),
		latencyAim("latency1k", "p99-ns", "p99", 1.5),
		latencyAim("latency100k", "p50-ns", "median", 1.2),
		latencyAim("latency100k", "p99-ns", "p99", 1.5),
	}
	for _, w := range []string{"hogs", "hogs/handlers=8"} {
		all = append(all,
			aim("Actor", w, ws, "p50-ns", "/median", "median of the latency beside handlers that compute", 0.05*millisecond),
			aim("Actor", w, ws, "p99-ns", "/p99", "p99 of the latency beside handlers that compute", 1.5*millisecond))
	}
	workloads := []string{"pingpong", "ring", "pairs", "count", "fanin", "big", "ask", "spawn"}
	for _, w := range workloads {
		limit := 1.3
		if w == "pingpong" || w == "ring" { // a hop each
			limit = 1.15
		}
		all = append(all, timeAim("Actor", w, "channel", channels, limit))
	}
	for _, w := range workloads {
		all = append(all, timeAim("Actor", w, "lockbased", "ref-mutex-cond", 1.5))
	}
	for _, impl := range []string{ws, "channel"} {
		for _, w := range []string{"pairs", "ring"} {
			all = append(all, millionAims(w, impl)...)
		}
	}
	return all
}

// remoteAims are those of actors in two systems with TCP between them.
func remoteAims() []Target {
	var all []Target
	impls := []string{"lockbased", "actorloop", "channel", "workstealing"}
	for _, impl := range impls {
		t := timeAim("Remote", "pingpong", impl, "ref-tcp", 1.3)
		t.ID = "aim/remote/pingpong/" + impl
		all = append(all, t)
	}
	for _, impl := range impls {
		t := aim("Remote", "count/frame=one", impl, "ns/op", "", "time per message in a frame of its own, over that among many", 5)
		t.ID, t.BaseWorkload, t.Bound = "aim/remote/batching/"+impl, "count", AtLeast
		all = append(all, t)
	}
	return all
}

// aim is one of an absolute figure; suffix tells it from others of the same
// workload and implementation.
func aim(bench, workload, impl, metric, suffix, says string, limit float64) Target {
	return Target{
		ID: "aim/" + workload + "/" + impl + suffix, Says: says,
		Bench: bench, Workload: workload, Metric: metric, Limit: limit,
		Impls: []string{impl}, Where: Host,
	}
}

// latencyAim is one of a latency compared to that of raw channels.
func latencyAim(workload, metric, which string, limit float64) Target {
	t := aim("Actor", workload, "workstealing", metric, "/"+which, which+" of the latency, over that of ref-chan-buffered", limit)
	t.Base = "ref-chan-buffered"
	return t
}

// perOp is what an operation of each contract is.
var perOp = map[string]string{"Group": "task", "Task": "task", "Actor": "operation", "Remote": "operation"}

// timeAim is one of the time of an operation compared to a reference's.
func timeAim(bench, workload, impl, base string, limit float64) Target {
	t := aim(bench, workload, impl, "ns/op", "", "time per "+perOp[bench]+", over that of "+base, limit)
	t.Base = base
	return t
}

// millionAims are what a million actors may take: three times as long for a
// message as two actors, and a GiB in all.
func millionAims(workload, impl string) []Target {
	const million = 1_000_000
	many := workload + "/actors=1000000"
	rise := aim("Actor", many, impl, "ns/op", "", "time per message, over that among two actors", 3)
	rise.BaseWorkload = workload + "/actors=2"
	return []Target{
		rise,
		aim("Actor", many, impl, "B/actor", "/memory", "memory of an idle actor: a million in a GiB", (1<<30)/million),
	}
}
