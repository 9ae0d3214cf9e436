package lint

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// errgroup is the one package of another module that a board may have to
// carry.
const errgroup = "golang.org/x/sync/errgroup"

// noAtomicBits says why And and Or are banned; Add, CompareAndSwap, Load, Store and Swap
// are there.
const noAtomicBits = "TinyGo does not link it for processors without such an instruction, of 64 bits for none of 32: use CompareAndSwap"

// importPolicy says who may import what, and why. Arrows point one way:
//
//	cmd/benchrun ─► report ─► compare ─► stats    records are judged, from any subject
//	            ├─► targets ─► compare            the promises are data: the engine does not know them
//	            ├─► boardrun ─► hw, report            what is done with boards
//	            └─► runner ─► session ◄─ testbin, hw  a subject is a test binary, a board, any program
//	session, compare ─► record                    one format, written once and read once
//	impls ─► impls/* ─► dyno, group, task, actor        one idea each
//	conformance, workloads ─► dyno, group, task, actor  they know contracts only
//	group, task, actor ─► nothing of ours but internal/panics, internal/invariants
//	internal/lint ─► nothing of ours                    it judges the others
//
// The first rule that matches a package governs it.
var importPolicy = Policy{
	Module: "github.com/dynolab/dyno",

	Rules: []Rule{
		{
			Packages:  ".",
			Why:       "the root holds contracts only, and whatever it imported every implementation and board would carry",
			Ours:      []string{"actor", "group", "task"},
			BoardSafe: true,
		},
		{
			Packages:  "group",
			Why:       "a contract depends on nothing of ours but the text of a panic, so that it can be read and implemented alone",
			Ours:      []string{"internal/panics"},
			BoardSafe: true,
		},
		{
			Packages:  "task",
			Why:       "a contract depends on nothing of ours but the text of a panic, so that it can be read and implemented alone",
			Ours:      []string{"internal/panics"},
			BoardSafe: true,
		},
		{
			Packages:  "actor",
			Why:       "a contract depends on nothing of ours; the actor core has invariants to check, and its tests need something that runs actors",
			Ours:      []string{"internal/invariants", "internal/panics"},
			TestOurs:  []string{".", "actor/actortest", "impls/...", "internal/patience"},
			BoardSafe: true,
		},
		{
			Packages:  "actor/actortest",
			Why:       "the system under test knows what actors are, and nothing of who tests what of them; boards run clauses and workloads",
			Ours:      []string{"actor"},
			BoardSafe: true,
		},
		{
			Packages:  "actor/scenario",
			Why:       "scenarios are data: what carries them out knows how, and their test has it do so",
			TestOurs:  []string{".", "actor", "impls/...", "conformance/conformtest"},
			BoardSafe: true,
		},
		{
			Packages: "actor/actorslog",
			Why:      "it is what a host's program subscribes with: log/slog is too large for a board, and a subscriber knows the contract only",
			Ours:     []string{"actor"},
			TestOurs: []string{"impls/*", "internal/patience"},
		},
		{
			Packages: "actor/actortrace",
			Why:      "it is a middleware, which knows the contract only: time, pages of HTML and runtime/trace are a host's",
			Ours:     []string{"actor"},
			TestOurs: []string{".", "actor/actortest", "impls"},
		},
		{
			Packages: "actor/remote/remotetest",
			Why:      "the clauses of remote actors need something that runs actors, nothing of how frames are carried, and to be told when all is at rest",
			Ours:     []string{"actor", "actor/remote", "impls", "internal/idle"},
		},
		{
			Packages: "actor/remote/lossy",
			Why:      "a wire knows what a wire is",
			Ours:     []string{"actor/remote"},
		},
		{
			Packages: "actor/remote",
			Why:      "remoting is a layer on the contract: sockets and goroutines of its own are no board's; what it needs of the core others could use as well",
			Ours:     []string{"actor"},
			TestOurs: []string{"actor/remote/...", "impls/...", "internal/invariants"},
		},
		{
			Packages:  "actor/typed",
			Why:       "the typed layer is one of many that could stand on the contract, and has no more of it than they would",
			Ours:      []string{"actor"},
			TestOurs:  []string{".", "actor/actortest", "impls/..."},
			BoardSafe: true,
		},
		{
			Packages:  "actor/mailbox",
			Why:       "what a mailbox means is said once, for implementations here and in other modules; it knows the contract, and no implementation",
			Ours:      []string{"actor", "internal/queue"},
			BoardSafe: true,
		},
		{
			Packages:  "internal/panics",
			Why:       "three contracts tell of a panic, and should tell the same",
			Ours:      []string{"internal/decimal"},
			BoardSafe: true,
		},
		{
			Packages:  "internal/queue",
			Why:       "a container has no lock and no atomic, so who shares it shares no mechanism",
			BoardSafe: true,
		},
		{
			Packages:  "impls",
			Why:       "the list of implementations is a list: it knows their values and does nothing with them",
			Ours:      []string{".", "impls/*"},
			TestOurs:  []string{"actor", "actor/actortest", "group", "task", "conformance/...", "internal/invariants", "workloads/..."},
			BoardSafe: true,
		},
		{
			Packages:  "impls/actorloop",
			Why:       "the document this implementation follows has errgroup execute its tasks",
			Ours:      []string{".", "actor", "actor/mailbox", "group", "task", "internal/invariants", "internal/queue"},
			TestOurs:  []string{"actor/actortest", "conformance/...", "workloads/..."},
			Others:    []string{errgroup},
			BoardSafe: true,
		},
		{
			Packages:  "impls/*",
			Why:       "implementations share the contract and what it means, never mechanism: two that share a lock or a wake-up would be one measurement",
			Ours:      []string{".", "actor", "actor/mailbox", "group", "task", "internal/invariants", "internal/queue"},
			TestOurs:  []string{"actor/actortest", "conformance/...", "workloads/..."},
			BoardSafe: true,
		},
		{
			Packages:  "conformance",
			Why:       "a clause knows the contract and asks an implementation's promises; boards run the same clauses",
			Ours:      []string{".", "actor", "actor/actortest", "actor/scenario", "group", "task"},
			TestOurs:  []string{"conformance/...", "impls/serial"},
			BoardSafe: true,
		},
		{
			Packages: "conformance/...",
			Why:      "the host adapters bring clauses and testing together and know no implementation, so that one in another module can use them",
			Ours:     []string{".", "actor", "actor/actortest", "group", "task", "conformance/...", "internal/idle"},
			TestOurs: []string{"impls/...", "internal/conform"},
			Others: []string{
				"github.com/anishathalye/porcupine",
				"go.uber.org/goleak",
				"pgregory.net/rapid",
			},
		},
		{
			Packages:  "workloads",
			Why:       "a workload knows the contract and its references, boards run it too, and the clock belongs to who measures",
			Ours:      []string{".", "actor", "actor/actortest", "group", "task", "workloads/internal/condbox", "workloads/internal/errgroup"},
			TestOurs:  []string{"impls/...", "workloads/..."},
			BoardSafe: true,
			Banned: Symbols{
				"time.Now":   "a workload that reads the clock measures itself",
				"time.Since": "a workload that reads the clock measures itself",
				"time.Until": "a workload that reads the clock measures itself",
			},
		},
		{
			Packages:  "workloads/internal/errgroup",
			Why:       "the references are written with errgroup, which brings fmt and unicode's tables: more than a board's RAM, and boards run no references",
			Others:    []string{errgroup},
			BoardSafe: true,
			Variants:  true,
		},
		{
			Packages: "workloads/internal/condbox",
			Why:      "the reference that waits on a sync.Cond is made of nothing else; boards have sync.Cond, it only allocates there",
		},
		{
			Packages: "workloads/remoteload",
			Why:      "workloads over sockets know what those of boards know, and remoting; which implementations there are is for who measures",
			Ours:     []string{".", "actor", "actor/remote", "workloads"},
			TestOurs: []string{"impls/...", "workloads/..."},
			Banned: Symbols{
				"time.Now":   "a workload that reads the clock measures itself",
				"time.Since": "a workload that reads the clock measures itself",
				"time.Until": "a workload that reads the clock measures itself",
			},
		},
		{
			Packages: "workloads/...",
			Why:      "the host adapters bring workloads and testing together and know no implementation, so that one in another module can use them; their tests drive them as the engine would",
			Ours:     []string{".", "actor", "group", "task", "internal/measure", "workloads/..."},
			TestOurs: []string{"impls/...", "internal/program", "internal/testbin"},
			Others:   []string{"github.com/HdrHistogram/hdrhistogram-go"},
		},
		{
			Packages:  "internal/decimal",
			Why:       "figures are written by boards, which have no room for strconv's way",
			BoardSafe: true,
		},
		{
			Packages:  "internal/measure",
			Why:       "boards and the host's benchmarks have one arithmetic; it knows no workload, so that whatever does n operations can be measured",
			Ours:      []string{"internal/decimal"},
			BoardSafe: true,
		},
		{
			Packages:  "hw/firmware",
			Why:       "it is what every board runs, and carries no workload and no clause that its image does not name",
			Ours:      []string{".", "actor", "conformance", "hw/firmware/line", "internal/measure"},
			TestOurs:  []string{"hw/firmware/...", "impls", "impls/*", "workloads"},
			BoardSafe: true,
		},
		{
			Packages:  "hw/firmware/line",
			Why:       "both sides of the line have it, and each knows nothing of the other",
			Ours:      []string{"internal/decimal"},
			BoardSafe: true,
		},
		{
			Packages:  "hw/firmware/bench",
			Why:       "workloads become cases of a firmware here, for any implementation; it knows none",
			Ours:      []string{".", "actor", "hw/firmware", "internal/measure", "workloads"},
			TestOurs:  []string{"conformance", "hw/firmware/...", "impls", "impls/*", "internal/invariants"},
			BoardSafe: true,
		},
		{
			Packages:  "hw/firmware/conform",
			Why:       "clauses become cases of a firmware here, for any implementation; it knows none",
			Ours:      []string{".", "conformance", "hw/firmware"},
			TestOurs:  []string{"group", "hw/firmware/...", "impls", "impls/*", "internal/measure"},
			BoardSafe: true,
		},
		{
			Packages:  "hw/firmware/conform/...",
			Why:       "each has the clauses that it names and no others, so that an image carries what it has room for",
			Ours:      []string{".", "conformance", "hw/firmware", "hw/firmware/conform"},
			BoardSafe: true,
		},
		{
			Packages: "hw/firmware/internal/porttest",
			Why:      "the tests of what boards run have one port and one clock; no board carries them",
			Ours:     []string{"hw/firmware/line", "internal/measure"},
		},
		{
			Packages: "internal/targets",
			Why:      "promises name workloads, metrics and columns as results have them, and are judged by what the engine reads from files, never by the code that was measured",
			Ours:     []string{"internal/compare", "internal/record"},
			TestOurs: []string{".", "hw/firmware", "hw/firmware/bench", "impls", "impls/serial", "internal/measure", "internal/targets/targetstest", "workloads", "workloads/remoteload", "workloads/benchtest"},
		},
		{
			Packages: "internal/targets/targetstest",
			Why:      "it is what tests evaluate, and how",
			Ours:     []string{"internal/compare", "internal/targets"},
		},
		{
			Packages: "internal/program",
			Why:      "it starts programs that speak the driving protocol and knows no more of them than that",
			Ours:     []string{"internal/child", "internal/failure", "internal/hwcount"},
			TestOurs: []string{"internal/patience"},
		},
		{
			Packages: "internal/program/subject",
			Why:      "it is what a session measures of such programs, and knows no other subjects",
			Ours:     []string{"internal/program", "internal/record", "internal/session"},
			TestOurs: []string{"internal/compare"},
		},
		{
			Packages: "internal/program/command",
			Why:      "whole processes are what a session measures here, and nothing is known of them",
			Ours:     []string{"internal/child", "internal/program", "internal/record", "internal/session"},
		},
		{
			Packages: "internal/stats",
			Why:      "inference is arithmetic on plain values: what it says of them can be checked without a benchmark, a file or a clock",
			Others:   []string{"github.com/aclements/go-moremath/...", "github.com/montanaflynn/stats"},
			TestOurs: []string{"internal/quotetest"},
		},
		{
			Packages: "internal/truth/...",
			Why:      "the plants are laid out as modules that need the standard library only, and what lays them out knows nothing of how they are measured",
		},
		{
			Packages: "internal/record",
			Why:      "what is kept of a run is one format, for who writes it and for who reads it: neither knows the other",
			Ours:     []string{"internal/failure", "internal/filelock", "internal/foreign"},
			TestOurs: []string{"internal/recordtest"},
			Others:   []string{"golang.org/x/perf/..."},
		},
		{
			Packages: "internal/foreign",
			Why:      "what a file of another tool says is taken in as it stands there; who reads it knows what dyno makes of it",
		},
		{
			Packages: "internal/recordtest",
			Why:      "tests of several packages need the same plans and files, and no program does",
			Ours:     []string{"internal/record"},
		},
		{
			Packages: "internal/jobs",
			Why:      "what travels to another machine is a plan and files: how it travels, and how it is carried out, is for others",
			Ours:     []string{"internal/record"},
			TestOurs: []string{"internal/recordtest"},
		},
		{
			Packages: "internal/baseline",
			Why:      "it keeps files under names: how they are built and measured is for others",
			Ours:     []string{"internal/console", "internal/jobs"},
		},
		{
			Packages: "internal/machinelock",
			Why:      "a measuring process holds the machine; what is measured is of no concern to it",
			Ours:     []string{"internal/filelock"},
		},
		{
			Packages: "internal/session",
			Why:      "the loop that measures knows neither what is measured nor what becomes of the figures: a subject is an interface, and a comparison a function that is called at looks",
			Ours:     []string{"internal/child", "internal/program", "internal/record", "internal/stats"},
			TestOurs: []string{"internal/compare", "internal/failure", "internal/recordtest"},
			Others:   []string{"github.com/shirou/gopsutil/v4/...", "golang.org/x/perf/..."},
		},
		{
			Packages: "internal/testbin",
			Why:      "it makes subjects of Go packages, which it builds and lists; it knows neither contracts nor implementations",
			Ours:     []string{"internal/child", "internal/counter", "internal/failure", "internal/program", "internal/record", "internal/session"},
			TestOurs: []string{"internal/hwcount", "internal/patience"},
			Others: []string{
				errgroup, // builds go on side by side
				"github.com/agnivade/levenshtein",
				"github.com/rogpeppe/go-internal/cache", // of test binaries
				"golang.org/x/perf/...",
			},
		},
		{
			Packages: "internal/compare",
			Why:      "it judges what is recorded, from any subject and for any output",
			Ours:     []string{"internal/console", "internal/failure", "internal/record", "internal/stats"},
			TestOurs: []string{"internal/recordtest", "internal/session"},
			Others:   []string{"golang.org/x/perf/..."},
		},
		{
			Packages: "internal/calibrate",
			Why:      "it says what verdicts are worth, by files of what is known beforehand: it plans them and reads them, and measures nothing itself",
			Ours:     []string{"internal/compare", "internal/record", "internal/session", "internal/stats"},
			TestOurs: []string{"internal/program", "internal/recordtest"},
			Others:   []string{"golang.org/x/perf/..."},
		},
		{
			Packages: "internal/history",
			Why:      "it reads what was measured of a machine, run after run, and measures nothing itself",
			Ours:     []string{"internal/child", "internal/compare", "internal/record", "internal/stats"},
		},
		{
			Packages: "internal/bisect",
			Why:      "it decides what is measured next and what that says, of versions that a lab has: on a machine or in a simulation",
			Ours:     []string{"internal/stats"},
		},
		{
			Packages: "internal/conform",
			Why:      "it runs a conformance suite as go test does and reads what that says; it knows no clause",
			Ours:     []string{"internal/child", "internal/record"},
		},
		{
			Packages: "internal/why",
			Why:      "it explains a comparison by profiles of the same binaries",
			Ours:     []string{"internal/compare", "internal/counter", "internal/program", "internal/record", "internal/session", "internal/stats", "internal/testbin"},
			Others:   []string{"github.com/google/pprof/profile", "golang.org/x/perf/..."},
		},
		{
			Packages: "internal/versions",
			Why:      "it lays out versions of a module, whatever is done with them",
			Ours:     []string{"internal/child", "internal/console", "internal/scratch"},
			Others:   []string{"golang.org/x/mod/modfile", "golang.org/x/mod/module"},
		},
		{
			Packages: "internal/peers",
			Why:      "it knows programs as data of a checkout: how they are measured is the runner's",
			Ours:     []string{"internal/child"},
		},
		{
			Packages: "internal/hostcheck",
			Why:      "it is the check of a header for those who serve pages: it knows no page",
		},
		{
			Packages: "internal/console",
			Why:      "it is how any command says what it does: it knows no command",
			Others:   []string{"github.com/agnivade/levenshtein", "golang.org/x/term"},
		},
		{
			Packages: "internal/runner",
			Why:      "it carries out what commands measure on this host; how that is shown is theirs, so it knows no report",
			Ours: []string{
				"internal/baseline", "internal/bisect", "internal/calibrate", "internal/child", "internal/compare", "internal/console", "internal/counter", "internal/failure", "internal/jobs", "internal/machinelock",
				"internal/program/...", "internal/record", "internal/scratch", "internal/session", "internal/testbin", "internal/truth", "internal/versions",
			},
			Others: []string{errgroup, "golang.org/x/mod/modfile"}, // two versions are built side by side; an error names the modules of a workspace
		},
		{
			Packages: "internal/boardrun",
			Why:      "it is what commands about boards do, from flags to what they print: how it is done with a board is hw's",
			Ours: []string{
				"hw", "hw/firmware/line", "internal/compare", "internal/console", "internal/jobs", "internal/record", "internal/report",
				"internal/runner", "internal/scratch", "internal/session", "internal/targets",
			},
			TestOurs: []string{"internal/quotetest"},
		},
		{
			Packages: "internal/report/serve",
			Why:      "served pages show what a report shows, and profiles in pprof's own pages; nothing else needs those",
			Ours:     []string{"internal/calibrate", "internal/compare", "internal/console", "internal/hostcheck", "internal/record", "internal/why", "internal/report", "internal/targets"},
			TestOurs: []string{"internal/barepath"},
			Others:   []string{"github.com/google/pprof/..."},
		},
		{
			Packages: "internal/report/...",
			Why:      "a report is derived from what the engine read from files and judged by targets, which are data, never from the code that was measured",
			Ours:     []string{"internal/bisect", "internal/calibrate", "internal/compare", "internal/conform", "internal/console", "internal/failure", "internal/history", "internal/record", "internal/why", "internal/report/...", "internal/targets"},
			TestOurs: []string{"internal/quotetest", "internal/targets/targetstest"},
			Others: []string{
				"github.com/google/pprof/...",
				"github.com/jedib0t/go-pretty/v6/...",
				"golang.org/x/perf/...",
				"golang.org/x/term",
			},
		},
		{
			Packages: "hw",
			Why:      "it brings firmware to boards and reads what comes back: it knows the protocol and the format of results, and no board or implementation by name",
			Ours:     []string{"hw/boards", "hw/firmware/line", "internal/child", "internal/compare", "internal/console", "internal/failure", "internal/filelock", "internal/record", "internal/scratch", "internal/session"},
			TestOurs: []string{".", "hw/...", "internal/measure", "impls/...", "internal/barepath", "internal/patience"},
			Others: []string{
				"github.com/agnivade/levenshtein",
				"go.bug.st/serial/...",
				"go.yaml.in/yaml/v3", // of the hardware map
				"golang.org/x/perf/benchfmt",
			},
		},
		{
			Packages: "hw/gcroots",
			Why:      "it is a few instructions that TinyGo's collector lacks, and knows nothing but them",
		},
		{
			Packages: "hw/boards",
			Why:      "it is the boards as data; their code is for an image, and not for the host",
		},
		{
			Packages: "hw/boards/internal/linuxboard",
			Why:      "it is the port and the clock of Linux boards, and an operating system and Go's own scheduler are what it is made of; what runs on them comes from the image",
			Ours:     []string{"conformance", "hw/firmware", "internal/idle"},
		},
		{
			Packages: "hw/boards/internal/rptimer",
			Why:      "a clock is a counter that is read: what is measured with it is the firmware's",
		},
		{
			Packages: "hw/boards/internal/usbid",
			Why:      "a number is what the chip has: who looks for it is the host's",
		},
		{
			Packages: "hw/boards/internal/usbport",
			Why:      "a port is bytes in and out: what they mean is the firmware's",
		},
		{
			Packages: "hw/boards/*",
			Why:      "a board is pins, clock and port: what every board does is the firmware's, and that knows what the host need not",
			Ours:     []string{"conformance", "hw/firmware", "internal/measure", "hw/boards/internal/..."},
		},
		{
			Packages: "cmd/benchrun",
			Why:      "the command is thin: flags in, the engine, the boards and the report do the rest",
			Ours:     []string{"hw", "hw/firmware/line", "internal/...", "internal/report/...", "internal/targets"},
			TestOurs: []string{"internal/barepath"},
			Others: []string{
				"github.com/spf13/cobra/...",
				"github.com/spf13/pflag",
				"golang.org/x/term",
			},
		},
		{
			Packages:  "examples/pingpong",
			Why:       "it is the sample that runs on boards: one program for them and for hosts",
			Ours:      []string{"actor", "impls/serial"},
			TestOurs:  []string{"impls"},
			BoardSafe: true,
			Prints:    true,
		},
		{
			Packages: "examples/*",
			Why:      "an example shows what a user writes: the contracts, an implementation, and no dependency that a reader would have to learn first",
			Ours:     []string{"actor", "actor/remote", "examples/internal/cli"},
			TestOurs: []string{"impls"},
		},
		{
			Packages: "examples/internal/cli",
			Why:      "it chooses the implementation, so that the examples do not have to",
			Ours:     []string{"actor", "impls"},
			TestOurs: []string{"impls/*"},
		},
		{
			Packages:  "internal/invariants",
			Why:       "the switch for invariant checks is a constant, so that they cost nothing in builds that are measured",
			BoardSafe: true,
			Variants:  true,
		},
		{
			Packages: "internal/barepath",
			Why:      "it hides the programs of this machine from tests, whatever those look for",
		},
		{
			Packages: "internal/patience",
			Why:      "tests of time limits vary the limit, whatever it is that the limit ends",
		},
		{
			Packages: "internal/failure",
			Why:      "it has words that who starts processes and who compares agree on, and nothing else",
		},
		{
			Packages: "internal/child",
			Why:      "it starts processes and ends them, and knows nothing of what they are: the engine has test binaries, boards have emulators and compilers",
			Ours:     []string{"internal/failure"},
		},
		{
			Packages: "internal/filelock",
			Why:      "a lock that ends with its process tells whether its owner is still at work, whatever the file is for",
		},
		{
			Packages: "internal/quotetest",
			Why:      "it compares pages with what tests make, and does not know of what that is",
		},
		{
			Packages: "internal/counter",
			Why:      "it counts the instructions of a process, and knows nothing of what that is",
		},
		{
			Packages: "internal/hwcount",
			Why:      "it asks the kernel for counters, and knows nothing of what the processes are that it counts; its tests start some",
			TestOurs: []string{"internal/child"},
			Others:   []string{"golang.org/x/sys/unix"},
		},
		{
			Packages: "internal/idle",
			Why:      "it asks the scheduler, and knows nothing of whose goroutines those are",
		},
		{
			Packages: "internal/scratch",
			Why:      "a build or a checkout needs a folder that a kill does not leave for ever",
			Ours:     []string{"internal/filelock"},
		},
	},

	BoardStd: []string{
		"cmp", "container/heap", "context", "embed", "errors", "iter", "math", "math/bits", "math/rand/v2", "runtime",
		"slices", "strconv", "sync", "sync/atomic", "time", "unsafe",
	},
	BoardGo: "go1.23",
	Banned: Symbols{
		"sync.Cond":                  "on TinyGo every Wait allocates twice, and a wait cannot end with a context",
		"sync.NewCond":               "on TinyGo every Wait allocates twice, and a wait cannot end with a context",
		"sync/atomic.AndInt32":       noAtomicBits,
		"(*sync/atomic.Int32).And":   noAtomicBits,
		"sync/atomic.OrInt32":        noAtomicBits,
		"(*sync/atomic.Int32).Or":    noAtomicBits,
		"sync/atomic.AndUint32":      noAtomicBits,
		"(*sync/atomic.Uint32).And":  noAtomicBits,
		"sync/atomic.OrUint32":       noAtomicBits,
		"(*sync/atomic.Uint32).Or":   noAtomicBits,
		"sync/atomic.AndInt64":       noAtomicBits,
		"(*sync/atomic.Int64).And":   noAtomicBits,
		"sync/atomic.OrInt64":        noAtomicBits,
		"(*sync/atomic.Int64).Or":    noAtomicBits,
		"sync/atomic.AndUint64":      noAtomicBits,
		"(*sync/atomic.Uint64).And":  noAtomicBits,
		"sync/atomic.OrUint64":       noAtomicBits,
		"(*sync/atomic.Uint64).Or":   noAtomicBits,
		"sync/atomic.AndUintptr":     noAtomicBits,
		"(*sync/atomic.Uintptr).And": noAtomicBits,
		"sync/atomic.OrUintptr":      noAtomicBits,
		"(*sync/atomic.Uintptr).Or":  noAtomicBits,
		"print":                      "only commands and adapters print",
		"println":                    "only commands and adapters print",
	},
}

func TestImportPolicy(t *testing.T) {
	violations, err := Check(os.DirFS("../.."), importPolicy)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
}

// TestBannedAreFound: each banned symbol is one that there is, and a use of it is found: a
// name with a typing error would ban nothing.
func TestBannedAreFound(t *testing.T) {
	p := importPolicy
	p.Rules = []Rule{{Packages: ".", Why: "all of it", BoardSafe: true}}
	for name, why := range importPolicy.Banned {
		src := "package dyno\nvar _ = " + name + "\n"
		if m := regexp.MustCompile(`^(\(\*)?([\w/]+)\.(.+)$`).FindStringSubmatch(name); m != nil {
			src = fmt.Sprintf("package dyno\nimport p %q\nvar _ = %sp.%s\n", m[2], m[1], m[3])
		}
		got, err := Check(fstest.MapFS{"x.go": {Data: []byte(src)}}, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || !strings.Contains(got[0].What, " may not use "+name) || why == "" {
			t.Errorf("%s: %q, want one violation", name, got)
		}
	}
}
