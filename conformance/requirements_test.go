package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/conformance"
)

// requirement is a line of the documents that this project implements.
type requirement struct {
	id, says string
	lives    string // files and folders of the tree
	tests    string // "folder.TestName", beside the clauses and targets that name the line
	same     string // another line, which says the same: its clauses count
	gap      string // what of it there is not, or is done in another way, and why
}

// requirements are the lines of the documents, G the one on task groups, X on executors,
// V on actor systems, S on suspension, FR and SC on runtimes for small machines, L the
// laboratory's own.
var requirements = []requirement{
	{id: "G1", says: "New, Go, Close, Next, Wait, Cancel, a view for range; fail-fast, panic-to-error, max-concurrency, result-buffer; nil context, negative limit", lives: "group", tests: "group.TestNegativeOptionsPanic group.TestResultsUntilDrained"},
	{id: "G2", says: "Go: refused after Close, nil refused, waits for a slot, an accepted task runs once and has one result", lives: "group"},
	{id: "G3", says: "Close is idempotent, refuses later tasks, cancels nothing", lives: "group"},
	{id: "G4", says: "Next: order of completion, end, cancelled waiters, many consumers", lives: "group", tests: "group.TestResultsEndWithContext"},
	{id: "G5", says: "Wait: all tasks done; first error, else the context's cause, else nil", lives: "group/outcome.go", tests: "group.TestOutcomeFirstError group.TestOutcomeContext"},
	{id: "G6", says: "Cancel: nil means context.Canceled, the first cause wins, fail-fast", lives: "group"},
	{id: "G7", says: "a panic is a *PanicError, or ends the process; Goexit is an error", lives: "group/errors.go", tests: "group.TestPanicErrorUnwraps conformance/conformtest.TestPanicEndsProcess"},
	{id: "G8", says: "no goroutine outlives a group", lives: "group", tests: "impls/actorloop.TestManagerEnds"},
	{id: "G9", says: "errgroup executes, one manager owns the state; seven invariants", lives: "impls/actorloop/group.go", tests: "impls/actorloop.TestInvariantsAreChecked"},

	{id: "X1", says: "one Executor: handle or future, flush, pending", lives: "task"},
	{id: "X2", says: "Handle: states, Value, Cancel; the first terminal state wins", lives: "task", tests: "task.TestValue"},
	{id: "X3", says: "Future: memoised, run once, failures re-raised to every waiter", lives: "task"},
	{id: "X4", says: "a panic or error is one task error", lives: "task/errors.go", tests: "task.TestErrors", gap: "a future that was cancelled has a *task.Error whose cause is context.Canceled, as one that failed has its own: cancellation is an error of the future, as in the document"},
	{id: "X5", says: "yield and am-I-cancelled, an error outside a task", lives: "task/handle.go", tests: "task.TestContext"},
	{id: "X6", says: "the serial executor: FIFO, yield, flush's budget, inline waits, named cycles, A1B2", lives: "impls/serial", tests: "impls/serial.TestGoldenTraces impls/serial.TestModel", gap: "no public Drive(handle): Value of a handle is that, in a task and outside, and takes a context as well; Flush in a task takes no step, for what it ran would stand on the task's own stack and could wait for it"},
	{id: "X7", says: "goroutine executors: yield is a hint, flush a no-op, forward progress", lives: "docs/semantics-tasks.md", tests: "impls/workstealing.TestForwardProgress"},
	{id: "X8", says: "every executor passes the same suite", lives: "conformance", tests: "impls/lockbased.TestConformance impls/actorloop.TestConformance impls/channel.TestConformance impls/workstealing.TestConformance impls/serial.TestConformance"},
	{id: "X9", says: "seeded orders, random and PCT; a seed replays", lives: "impls/serial conformance/EXPLORATION.md", tests: "impls/serial.TestPCT impls/serial.TestReplay impls/serial.TestSeedsExplore"},

	{id: "V1", says: "hooks; private state; one message at a time", lives: "actor/actor.go"},
	{id: "V2", says: "mailboxes: unbounded, bounded, by priority", lives: "actor/mailbox"},
	{id: "V3", says: "FIFO per sender and receiver, at most once, tell never blocks but for Block", lives: "actor/spi.go"},
	{id: "V4", says: "a work-stealing pool: queue a worker, min and max workers, keep-alive, capacity", lives: "impls/workstealing", tests: "impls/workstealing.TestPoolGrowsToMaxWorkers impls/workstealing.TestPoolShrinksWhenIdle impls/workstealing.TestKeepAliveBeginsAnew impls/workstealing.TestQueueCapacityAndStrategyLoseNobody impls/workstealing.TestQueueIsADeque", gap: "of actors owner and thieves take from the same end, the old one, for measured beside it the other order is no faster: impls/workstealing/doc.go; of forks they take from different ends"},
	{id: "V5", says: "scheduling: fair, by priority, work-conserving", lives: "impls/workstealing/config.go impls/DISPATCHERS.md", tests: "impls/workstealing.TestStarvationBounds impls/workstealing.TestWorkConservingTakesWhatIsNext impls/workstealing.TestConformanceOfStrategies"},
	{id: "V6", says: "references: equal, serialisable, typed view, tell and ask", lives: "actor/ref.go actor/address.go actor/typed", tests: "actor.TestAddresses actor/typed.TestAsk"},
	{id: "V7", says: "system: name, config, guardians, graceful shutdown that reports who did not stop", lives: "actor/system.go", tests: "actor.TestShutdown"},
	{id: "V8", says: "supervision: one-for-one, all-for-one, retries in a window, backoff, four directives", lives: "actor/supervise.go docs/supervision.md"},
	{id: "V9", says: "location transparency", lives: "actor/remote actor/natslink docs/remote.md", tests: "actor/remote.TestClausesOverTCP actor/remote.TestClausesOverLossy actor/natslink.TestClauses actor/remote.TestKill actor/remote.TestSoak actor/remote.TestReaderRunsTheTurn actor/remote.TestWaitingTurnLeavesTheWire", gap: "a ping-pong over TCP takes channel 1.52 times what it takes by hand, where 1.3 is the aim: docs/remote.md says why"},
	{id: "V10", says: "examples: counter, chat room, pipeline", lives: "examples", tests: "examples/counter.TestCounter examples/chatroom.TestChatroom examples/chatroom.TestProcesses examples/pipeline.TestPipeline"},
	{id: "V11", says: "10^6 messages/s, < 1 ms, 10,000 actors, < 1 KiB an actor, coverage", lives: "internal/targets/list.go Makefile", tests: "impls.TestIdleActorFitsInAKibibyte", gap: "make cover, of the night, fails below 90 % of a package of actor/; the document has 100 %"},

	{id: "S1", says: "who does what: invoker, coordinator, cell, registry", lives: "actor/suspend.go actor/spi.go", tests: "actor.TestCoordinator"},
	{id: "S2", says: "resume after a time, on a signal, when there is capacity; reasons are recorded", lives: "actor/suspend.go"},
	{id: "S3", says: "a suspended actor is not scheduled, takes messages, handles system messages", lives: "actor/suspend.go"},
	{id: "S4", says: "resume racing with a message: not registered twice, no wake-up lost", lives: "actor/suspend.go"},
	{id: "S5", says: "metrics; cycle < 1 ms, resume < 10 ms, a million cycles leak nothing", lives: "actor/stats.go conformance/conformtest/actor_cycles.go"},

	{id: "FR-001", says: "one call makes the system from the guardian's props", lives: "actor/system.go"},
	{id: "FR-002", says: "receive, become, unbecome", lives: "actor/context.go", tests: "actor/typed.TestBecome"},
	{id: "FR-003", says: "PID to cell in O(1), immutable PIDs", lives: "actor/table.go", tests: "actor.TestTable actor.TestTableConcurrently"},
	{id: "FR-004", says: "two queues a mailbox, system before user; enqueue only queues", lives: "actor/signal.go actor/spi.go", tests: "actor.TestSignals"},
	{id: "FR-005", says: "dispatcher, mailbox and invoker are replaceable from outside", lives: "actor/spi.go actor/mailbox.go examples/outoftree", tests: "examples/outoftree.TestConformance examples/outoftree.TestRetrier"},
	{id: "FR-006", says: "supervisors", lives: "actor/supervise.go", same: "V8"},
	{id: "FR-007", says: "lifecycle states and parents, published", lives: "actor/events.go"},
	{id: "FR-008", says: "Ask: a future to poll or wait for", lives: "actor/future.go", tests: "actor.TestFutureIsLinearizable"},
	{id: "FR-009", says: "dead letters and event stream: every undelivered message", lives: "actor/letters.go actor/events.go"},
	{id: "FR-010", says: "props: factory, mailbox, supervisor, throughput, middleware", lives: "actor/actor.go"},
	{id: "FR-011", says: "untyped messages", lives: "actor"},
	{id: "FR-012", says: "the typed layer beside it", lives: "actor/typed", tests: "actor/typed.TestBare"},
	{id: "FR-013", says: "a ping-pong sample", lives: "examples/pingpong hw/firmware/bench", tests: "examples/pingpong.TestProgram examples/pingpong.TestPingpong"},
	{id: "FR-014", says: "1,000 messages in 1 s within 64 KiB", lives: "hw/boards/cortex-m3-qemu docs/boards.md", same: "FR-013"},
	{id: "FR-015", says: "extension points are public interfaces", lives: "actor/spi.go docs/extending.md"},
	{id: "FR-016", says: "no reference cycle keeps what has stopped", lives: "docs/semantics-actors.md actor/leak_test.go", tests: "actor.TestRegistryThatLeaks", gap: "the document also asks for an analyzer that finds cycles of references before the program runs; there is none: an actor may hold a Ref of any other for ever, since a Ref of a stopped actor keeps its Port and neither state nor messages, so what such an analyzer would report leaks nothing here"},
	{id: "FR-017", says: "no allocation per message; where there is one it is named, bounded, measured", lives: "internal/targets/list.go docs/semantics-actors.md", tests: "impls.TestAllocations actor.TestTimersAllocateNothing hw/firmware/bench.TestSerialAllocatesNothing"},
	{id: "FR-018", says: "receive returns an error: recoverable or fatal; panics", lives: "actor/supervise.go", tests: "actor.TestCaught"},
	{id: "FR-019", says: "system messages come first", lives: "actor/cell.go", same: "FR-004"},
	{id: "FR-020", says: "policies DropNewest, DropOldest, Grow, Block", lives: "actor/mailbox docs/mailboxes.md", gap: "DropOldest is no default: docs/mailboxes.md says why"},
	{id: "FR-021", says: "suspend and resume from outside", lives: "actor/suspend.go", same: "S3"},
	{id: "FR-022", says: "log events, a logger subscriber: log/slog on hosts, the serial line on boards", lives: "actor/actorslog actor/entry.go hw/firmware/log.go", tests: "actor/actorslog.TestEveryEventIsWritten hw/firmware.TestLogOverTheLine hw/firmware.TestLogLosesTheOldest hw/firmware/bench.TestLog"},
	{id: "FR-023", says: "children, watch: a parent learns of stop, failure, restart", lives: "actor/system.go actor/context.go"},
	{id: "FR-024", says: "the guardian's props are required", lives: "actor/system.go", same: "FR-001"},
	{id: "FR-025", says: "names unique per parent, anon- else, name to PID", lives: "actor/pid.go"},
	{id: "FR-026", says: "a middleware chain around receive", lives: "actor/middleware.go"},
	{id: "FR-027", says: "bounded and unbounded; watermark warnings", lives: "actor/mailbox.go", gap: "no memory figures of unbounded mailboxes, and no default mailbox of the system: docs/mailboxes.md says why"},
	{id: "FR-028", says: "throughput a turn, 300 by default", lives: "actor/cell.go", tests: "actor.TestDefaultThroughput"},
	{id: "FR-029", says: "no implicit sender", lives: "actor/context.go"},
	{id: "FR-030", says: "replies go to the reply-to of the message", lives: "actor/future.go"},
	{id: "FR-031", says: "UserGuardian() gives the guardian's reference", lives: "actor/system.go", same: "FR-001"},
	{id: "FR-032", says: "send errors give the message back", lives: "actor/errors.go"},
	{id: "FR-033", says: "user code cannot forge a system message", lives: "actor/forged.go", tests: "actor.TestForged actor.TestForgedByTimer"},
	{id: "FR-034", says: "the same core under synchronous and asynchronous runners", lives: "impls/serial actor/spi.go", tests: "hw/firmware/conform.TestSerialOnABoard"},

	{id: "SC-001", says: "spawn to first message < 5 ms, on a board < 20 ms", lives: "internal/targets/list.go workloads/actor_spawn.go", tests: "workloads.TestSpawnLatencyIsBookedAsItWas"},
	{id: "SC-002", says: "1,000 messages/s: a backlog of at most 10", lives: "internal/targets/list.go workloads/actor_latency.go", tests: "workloads.TestOpenLoopBacklog"},
	{id: "SC-003", says: "of 100 failures 95 are recovered from", lives: "internal/targets/list.go workloads/actor_restart.go", tests: "workloads.TestShares"},
	{id: "SC-004", says: "undelivered messages are found, all of them", lives: "internal/targets/list.go workloads/actor_restart.go", tests: "workloads.TestShares"},
	{id: "SC-005", says: "no allocation per message; what allocates on which path", lives: "internal/targets/list.go docs/semantics-actors.md", tests: "impls.TestAllocations actor/remote.TestMessageAllocates"},
	{id: "SC-006", says: "three developers are interviewed", lives: "docs", gap: "a study of people, which no test is"},
	{id: "SC-007", says: "three extensions are possible", lives: "docs/extending.md", tests: "actor.TestExtensionPersistence actor/actortrace.TestMessages actor/remote.TestClausesOverMemory"},

	{id: "L1", says: "five implementations of the same interfaces", lives: "impls", tests: "impls.TestNames"},
	{id: "L2", says: "one suite and one set of workloads for all, and for those of other modules", lives: "conformance workloads examples/outoftree", tests: "examples/outoftree.TestConformance"},
	{id: "L3", says: "go test -bench, benchrun, results/", lives: "cmd/benchrun results", tests: "cmd/benchrun.TestScript tools/lint.TestResultsAppendOnly"},
	{id: "L4", says: "every target is a checked line", lives: "internal/targets", tests: "internal/targets.TestLines internal/targets.TestTargetsNameWhatThereIs"},
	{id: "L5", says: "firmware for boards: build, flash, run, read back", lives: "hw Makefile", tests: "hw.TestBuildForTinyGo hw.TestSessions hw/firmware.TestTranscripts"},
	{id: "L6", says: "x/perf, pprof, stats, x/sync, each where it serves", lives: "docs/dependencies.md", tests: "tools/lint.TestDocuments"},
}

// proof is what the tree has to show for lines.
type proof struct {
	clauses map[string][]string // names by rule
	targets map[string][]string // IDs by line
	tests   map[string]bool     // "folder.TestName"
}

const treeRoot = ".."

// readProof reads what there is: clauses from their lists and, where they are a package's
// own, from its source; targets and tests from source.
func readProof(t *testing.T) proof {
	t.Helper()
	p := proof{map[string][]string{}, map[string][]string{}, map[string]bool{}}
	for _, c := range slices.Concat(conformance.Group(), conformance.Actor(), conformance.Core(), conformance.Task()) {
		p.clauses[c.Rule] = append(p.clauses[c.Rule], c.Name)
	}
	source := func(pattern string, each func(dir, text string)) {
		paths, err := filepath.Glob(filepath.Join(treeRoot, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("there are no files %s: %v", pattern, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := filepath.Rel(treeRoot, filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			each(filepath.ToSlash(dir), string(data))
		}
	}
	clause := regexp.MustCompile(`Name: "((?:group|actor|task)/[a-z-]+)", Rule: "([A-Z]+-?[0-9]+)"`)
	source("conformance/conformtest/*.go", func(_, text string) {
		for _, m := range clause.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(p.clauses[m[2]], m[1]) {
				p.clauses[m[2]] = append(p.clauses[m[2]], m[1])
			}
		}
	})
	target := regexp.MustCompile(`ID: +"([A-Z]+-?[0-9]+)(/[a-z]*)?"`)
	source("internal/targets/list.go", func(_, text string) {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			p.targets[m[1]] = append(p.targets[m[1]], m[1]+m[2])
		}
	})
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, depth := range []string{"*", "*/*", "*/*/*"} {
		source(depth+"/*_test.go", func(dir, text string) {
			for _, m := range test.FindAllStringSubmatch(text, -1) {
				p.tests[dir+"."+m[1]] = true
			}
		})
	}
	return p
}

// check says what is wrong with a line.
func (p proof) check(r requirement) (faults []string) {
	bad := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for path := range strings.FieldsSeq(r.lives) {
		if _, err := os.Stat(filepath.Join(treeRoot, filepath.FromSlash(path))); err != nil {
			bad("it is said to live in %s, which there is not", path)
		}
	}
	for test := range strings.FieldsSeq(r.tests) {
		if !p.tests[test] {
			bad("it is said to be proven by %s, which there is not", test)
		}
	}
	own := len(p.clauses[r.id]) + len(p.targets[r.id]) + len(strings.Fields(r.tests))
	switch {
	case r.lives == "":
		bad("it is not said where it lives")
	case r.same != "" && len(p.clauses[r.same])+len(p.targets[r.same])+len(requirementOf(r.same).tests) == 0:
		bad("it is said to be proven with %s, of which there is nothing", r.same)
	case r.same == "" && own == 0 && r.gap == "":
		bad("no clause, test or target proves it")
	}
	return faults
}

func requirementOf(id string) (found requirement) {
	for _, r := range requirements {
		if r.id == id {
			found = r
		}
	}
	return found
}

// proves is what a line asks for and what proves it, as go test -v prints it.
func (p proof) proves(r requirement) string {
	out := fmt.Sprintf("%s: %s (%s)", r.id, r.says, r.lives)
	for _, kind := range []struct {
		name  string
		items []string
	}{
		{"clauses", slices.Sorted(slices.Values(p.clauses[r.id]))},
		{"targets", p.targets[r.id]},
		{"tests", strings.Fields(r.tests)},
		{"as", strings.Fields(r.same)},
	} {
		if len(kind.items) > 0 {
			out += "\n    " + kind.name + " " + strings.Join(kind.items, " ")
		}
	}
	if r.gap != "" {
		out += "\n    but " + r.gap
	}
	return out
}

// TestRequirements holds the lines to what there is: each lives somewhere, and what proves it
// exists. With -v it prints all of it.
func TestRequirements(t *testing.T) {
	p := readProof(t)
	known := map[string]bool{}
	for _, r := range requirements {
		if known[r.id] {
			t.Errorf("%s is in the table twice", r.id)
		}
		known[r.id] = true
		for _, fault := range p.check(r) {
			t.Errorf("%s: %s", r.id, fault)
		}
		t.Log(p.proves(r))
	}
	for rule, names := range p.clauses {
		if !known[rule] {
			t.Errorf("%s are clauses of %s, which is not in the table", names, rule)
		}
	}
}

// A line that is not proven, or by what there is not, is found.
func TestRequirementsFindsEachFault(t *testing.T) {
	p := proof{
		clauses: map[string][]string{"A1": {"actor/a"}},
		targets: map[string][]string{"A2": {"A2/host"}},
		tests:   map[string]bool{"actor.TestA": true},
	}
	for _, c := range []struct {
		r    requirement
		want string
	}{
		{requirement{id: "A1", lives: "actor"}, ""},
		{requirement{id: "A2", lives: "actor"}, ""},
		{requirement{id: "A3", lives: "actor", tests: "actor.TestA"}, ""},
		{requirement{id: "A4", lives: "actor", same: "A1"}, ""},
		{requirement{id: "A5", lives: "actor", gap: "why"}, ""},
		{requirement{id: "A6", lives: "actor"}, "no clause, test or target proves it"},
		{requirement{id: "A1", lives: "nowhere/at/all"}, "live in nowhere/at/all, which there is not"},
		{requirement{id: "A1"}, "not said where it lives"},
		{requirement{id: "A1", lives: "actor", tests: "actor.TestB"}, "proven by actor.TestB, which there is not"},
		{requirement{id: "A7", lives: "actor", same: "A8"}, "proven with A8, of which there is nothing"},
	} {
		faults := strings.Join(p.check(c.r), "; ")
		if (c.want == "") != (faults == "") || !strings.Contains(faults, c.want) {
			t.Errorf("%+v: %q, want %q", c.r, faults, c.want)
		}
	}
}
