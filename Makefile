# dyno's tasks. `make` alone lists them. Needed: Go, GNU make, git, and a
# module proxy for the first build; developer tools are built into bin/ from
# the module tools/. What needs other programs is skipped without them, and that
# is said.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL: # stages follow one another; go itself uses all cores

BIN := $(CURDIR)/bin
STARTED := $(shell date +%s)

# Every module of the tree.
MODULES := $(patsubst ./%,%,$(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path '*/testdata/*' -not -path './bin/*' | sort)))

# The packages whose tests run under -race with several GOMAXPROCS. Not actor, whose
# tests are about the core, which runs by turns: it has them at night. Nor serial, whose order
# is its own whatever the processors are: it runs under -race once. Not conformtest: its
# own tests are about wrong groups, each of them run many times, and find nothing there that
# they do not find plain; its clauses run with the implementations.
PROCS := ./group ./task $(filter-out ./impls/serial/,$(wildcard ./impls/*/))
# make unit has run them plain with as many as there are processors, mostly 2: under -race they run
# with one, where nothing goes on unless another waits, and with more than most machines have.
NUMBERS := 1,2,8
race: NUMBERS = 1,8

# What has nothing that goes on at the same time: the race detector finds nothing there.
SEQUENTIAL := . ./hw/boards/internal/usbid ./hw/boards/internal/usbport ./hw/firmware/line ./examples/internal/cli \
	$(patsubst %,./internal/%,bisect calibrate compare conform decimal history jobs measure panics queue quotetest \
	record report scratch stats targets truth/... versions)

# What runs other programs and waits for them, or for who looks at its pages, on few goroutines:
# the tests build and start those programs, which takes most of their time. They are under -race
# at night.
WAITING := ./cmd/... $(patsubst %,./internal/%,barepath baseline boardrun child hwcount idle machinelock peers program/... report/serve runner session testbin why) ./hw/boards ./hw/boards/internal/linuxboard ./hw/firmware/bench ./hw/firmware/conform/...

# What boards carry: it is tested as on machines of 32 bits as well, at night.
BOARD := ./actor ./actor/mailbox ./actor/scenario ./actor/typed ./group ./task ./impls/... ./internal/measure ./hw/firmware/...

# How many rounds the long tests take in `make soak` and in `make nightly`.
SOAK ?= 1000
nightly: SOAK = 20

# What compiles may leave more garbage than Go has programs leave: collecting it takes a fifth of
# the compiler's time, and two fifths of staticcheck's. Tests run without this.
export COMPILER_GOGC := 400
fmt vet staticcheck: export GOGC := $(COMPILER_GOGC)

# A test that hangs is to end with its stacks before CI gives up. make vet has looked at all
# packages already, and more closely than go test does.
# Many tests wait, for programs or for each other: twice as many packages at a time as there
# are processors, and twice as many of the tests that may run beside others, keep those busy.
CROWD := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
GO_TEST := GOGC=$(COMPILER_GOGC) go test -exec "env -u GOGC" -count=1 -timeout 20m -vet=off -p $(CROWD)

# Programs that tests build have no table of symbols, and nothing that only debuggers read: that
# takes half the time of linking.
STRIPPED := $(shell go env GOFLAGS) -ldflags=-s
unit race beside modules foreign: export GOFLAGS := $(STRIPPED)

# Else each process under the race detector sleeps for a second at its end.
export GORACE := atexit_sleep_ms=0

# With DYNO_NIGHTLY tests take as long as they need, and are about real time, processors
# and memory, too. What depends on chance is repeated for so long, each clause; by day for
# 100 ms, and once under -race and on 32 bits.
STRESS ?= 10s
procs: STRESS = 1s
NIGHT_TEST = DYNO_NIGHTLY=1 DYNO_STRESS=$(STRESS) go test -count=1 -timeout 2h

# The bugs that are planted by hand have the longest part of the night, make mutants. Under
# -race they show nothing that they do not show without.
PLANTED := ^Test(Wrong|WrongOnHost)$$

# What part of each package of COVERED the tests of all of them have to run, in percent.
COVERAGE ?= 90
COVERED := ./actor/... ./group ./task ./impls/...
COMMA := ,
SPACE := $(subst ,, )

# covered reads cover.out, which has each block of statements once for each test program, prints
# what part of each package is run, and fails if that is less than COVERAGE of one.
covered = awk -F '[: ]' -v least=$(COVERAGE) \
	'NF == 4 && $$1 != "mode" { block = $$1 ":" $$2; size[block] = $$3; if ($$4 > 0) run[block] = 1 } \
	END { for (block in size) { pkg = block; sub("/[^/]*$$", "", pkg); all[pkg] += size[block]; if (block in run) some[pkg] += size[block] } \
	for (pkg in all) { n++; part = 100 * some[pkg] / all[pkg]; printf "%5.1f %%  %s\n", part, pkg; if (part < least) bad = bad " " pkg } \
	if (bad) print "make cover: less than " least " % are run of" bad; exit bad != "" || n == 0 }'

# What only debuggers read takes a tenth of the time to compile. It is left out where
# no program is built for anything but its tests.
LEAN := -gcflags=all=-dwarf=false

# -race if the race detector can be built here. It needs a C compiler on most systems.
RACE = $(shell go list -race . >/dev/null 2>&1 && echo -race $(LEAN))

# compiled compiles packages, and what they import, as these flags have it. Commands that go on at
# the same time would each compile what they share.
compiled = GOGC=$(COMPILER_GOGC) go list -deps -export $(1) >/dev/null

# say prints a stage's headline and the seconds since make was started.
say = @printf '\n=== %s [%d s]\n' '$(1)' $$(($$(date +%s) - $(STARTED)))

# each runs a command in every module of a list and names the module it fails in.
each = @for m in $(1); do (cd "$$m" && $(2)) || { echo "make $@: the command '$(2)' failed in module $$m" >&2; exit 1; }; done

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: bench
bench: benchrun ## run the default comparison (8 to 9 minutes) and write its report
	$(BIN)/benchrun

.PHONY: report
report: benchrun ## write the report of the newest results file (or FILE=path)
	@file="$(FILE)"; \
	if [ -z "$$file" ]; then file=$$(find results -name '*.bench' 2>/dev/null | awk -F/ '{ print $$NF "\t" $$0 }' | sort | tail -n 1 | cut -f 2); fi; \
	if [ -z "$$file" ]; then echo "make report: no results yet: run make bench first, or give FILE=path" >&2; exit 2; fi; \
	$(BIN)/benchrun report "$$file"

.PHONY: bench-pr
bench-pr: benchrun ## compare this tree with BASE (default origin/main) into bin/pr/comment.md
	.ci/bench-pr "$(or $(BASE),origin/main)"

# Eight minutes in a fresh clone on two processors are the aim; CONTRIBUTING.md has what it takes.
.PHONY: test
test: check unit beside ## everything CI runs: no minute of waiting, no program but Go, make and git
	$(call say,all stages passed)

# What make test leaves out, and why:
#	night      tests that wait for time limits, look at processors and memory, kill and resume
#	           again and again, run all seeds, make wrong implementations hang, and search
#	           the harder histories; each stochastic clause for ten seconds, a million cycles;
#	           the largest problems of the workloads on all executors and references
#	procs      the concurrent packages in full with GOMAXPROCS 1 and 2 and 8; make test has
#	           the implementations short with -race, and all in full with as many
#	           processors as there are
#	race-all   under -race: all tests in full, those of the suite itself, of workloads, of
#	           other modules and of what runs other programs among them
#	other      all of it is compiled once more by another release of Go; make unit has that
#	           the driver of package testing fits it
#	staticcheck, tidy	of the other modules
#	again      a minute for each package, only to run again what has passed
#	cover      compiles the core and all that stands on it once more
#	foreign    all of it is compiled once more; make policy has the constants that 32 bits do
#	           not hold
#	browser, boards, arm	need other programs
#	soak       clauses some dozen times: minutes each
#	mutants    start programs some ten thousand times
.PHONY: nightly
nightly: test night other procs race-all again cover browser foreign boards arm soak storm mutants ## all there is, before a release (hours)
	$(call say,all stages passed)

.PHONY: check
check: fmt vet staticcheck tidy policy ## format, vet, staticcheck, tidy, policies

.PHONY: fmt
fmt: $(BIN)/gofumpt
	$(call say,gofumpt)
	@bad=$$(git ls-files -co --exclude-standard '*.go' | while read -r f; do if [ -f "$$f" ]; then echo "$$f"; fi; done | xargs -r $(BIN)/gofumpt -l); \
	if [ -n "$$bad" ]; then echo "$$bad"; echo "make fmt: not formatted: run bin/gofumpt -w on the files above" >&2; exit 1; fi

.PHONY: vet
vet:
	$(call say,go vet)
	$(call each,$(MODULES),go vet ./...)

# Both look at all that a module imports, such as servers of others and what their tests import: with
# empty caches that takes minutes. The other modules have them at night; by day go vet sees if what
# they require is not enough.
STATIC := .
nightly: STATIC = $(MODULES)

.PHONY: staticcheck
staticcheck: $(BIN)/staticcheck
	$(call say,staticcheck)
	$(call each,$(STATIC),$(BIN)/staticcheck ./...)

.PHONY: tidy
tidy:
	$(call say,go mod tidy -diff)
	$(call each,$(STATIC),go mod tidy -diff)

# The simulations of internal/stats and history are not here: they take minutes.
.PHONY: docs
docs: ## write the parts of documents that are made of results and lists
	go test -count=1 ./internal/report -run '^TestQuotes$$' -update
	go test -count=1 ./internal/boardrun -run '^TestBoardsPage' -update
	go test -count=1 ./impls -run '^TestPromisesTable$$' -update
	DYNO_UPDATE=1 go test -count=1 ./workloads -run '^TestDocument$$'

.PHONY: policy
policy:
	$(call say,policies (imports; boards; documents; recursion at night))
	cd tools && $(GO_TEST) ./lint

.PHONY: unit
unit:
	$(call say,all tests but those of the policy)
	@# What the programs that tests build have of the standard library: test binaries, and images of a board.
	@$(call compiled,-trimpath testing testing/internal/testdeps)
	@export GOOS=linux GOARCH=arm64 CGO_ENABLED=0; \
	$(call compiled,-trimpath $$(go list -deps -f '{{if .Standard}}{{.ImportPath}}{{end}}' ./hw/boards/linux-arm64-qemu ./hw/firmware/bench))
	$(GO_TEST) -parallel $(CROWD) -skip '$(SEEDED)' $$(go list ./... | grep -v '/workloads/benchtest$$')

.PHONY: night
night:
	$(call say,all tests as long as they need)
	$(NIGHT_TEST) -p 1 -skip '$(PLANTED)' ./...
	cd tools && $(NIGHT_TEST) -p 1 ./...
	cd peers && $(NIGHT_TEST) -run '^Test(Semantics|Edges)$$' .
	.ci/foreign 386 qemu-i386 -count=1 ./actor/actorslog ./actor/remote/... ./conformance

# The known release of Go that the tree is not built with: it compiles everything anew.
OTHER ?= go1.27.4

.PHONY: other
other: ## vet and short tests with the other known release of Go, if it can be fetched: OTHER=go1.27.4
	$(call say,vet and short tests with $(OTHER))
	@if [ "$$(GOTOOLCHAIN=$(OTHER) go env GOVERSION 2>/dev/null)" != "$(OTHER)" ]; then \
		echo "SKIPPED: the go command cannot fetch $(OTHER)"; \
	else \
		export GOTOOLCHAIN=$(OTHER); go vet ./... && $(GO_TEST) -short -skip '$(SEEDED)' ./...; \
	fi

.PHONY: browser
browser: ## look at the report and the served pages with Chromium, if there is one
	$(call say,the pages in a browser)
	go vet -tags browser ./internal/report/serve
	cd internal/report/serve && $(GO_TEST) -tags browser -run '^TestBrowser'

.PHONY: boards
boards: ## run some firmware on each emulated board that this machine has the programs for
	$(call say,the sample for boards on the processors of Linux boards)
	@for arch in arm arm64 riscv64; do GOOS=linux GOARCH=$$arch go build -o /dev/null ./examples/pingpong; done
	$(call say,the firmware on emulated boards)
	go vet -tags boards ./hw
	cd hw && $(GO_TEST) -tags boards -run '^TestEmulated'

.PHONY: procs
procs:
	$(call say,concurrent packages with GOMAXPROCS 1 and 2 and 8)
	$(NIGHT_TEST) -cpu $(NUMBERS) -skip '$(SEEDED)' $(PROCS) ./impls ./impls/serial ./actor/... ./workloads ./examples/...

# 386 is this machine's own on most, and has every implementation conform. Emulated it takes
# more than 20 minutes, and Go's scheduler dies of qemu-i386 7.2 now and then: only who sets
# EMULATOR=qemu-i386 has it so. arm is emulated, which is slow, and runs what the firmware makes
# of the clauses and workloads. The firmware on arm64 and riscv64 is run by make boards.
.PHONY: foreign
foreign: ## what boards carry, on 32 bits
	$(call say,what boards carry with GOARCH=386)
	.ci/foreign 386 '$(EMULATOR)' $(LEAN) -count=1 -timeout 20m -vet=off -short -skip '$(SEEDED)' $(BOARD)

.PHONY: arm
arm: ## what boards carry, on arm, in qemu-user
	$(call say,what boards carry on arm)
	.ci/foreign arm qemu-arm -count=1 -timeout 2h -short ./group ./task ./internal/measure ./hw/firmware/...

# Where the order is that of a seed, the number of processors makes no difference.
SEEDED := ^TestConformance(Task)?Seeds$$

# The packages that have tests: what others need for themselves alone is not to be compiled.
TESTED = go list -f "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}" ./...

# The other packages with goroutines. Not workloads, which under -race take minutes, nor
# conformance, whose clauses the implementations run: the night has them.
RACED = $$(comm -23 <($(TESTED) | sort) <(go list $(PROCS) $(SEQUENTIAL) $(WAITING) ./conformance/... ./workloads ./workloads/benchtest ./hw | sort))

.PHONY: race
race: raced ## concurrent packages under the race detector, with the invariant checks it switches on
	$(call say,tests under -race; those of concurrent packages with GOMAXPROCS 1 and 8)
	$(if $(RACE),,@echo "SKIPPED: the race detector needs a C compiler, and none is installed (Debian and Ubuntu have it in gcc)")
	$(if $(RACE),@.ci/together \
		'$(GO_TEST) $(RACE) -short -cpu $(NUMBERS) -skip "$(SEEDED)" $(PROCS)' \
		'$(GO_TEST) $(RACE) -short -skip "$(SEEDED)" $(RACED)')

.PHONY: raced
raced:
	$(if $(RACE),@$(call compiled,$(RACE) -test $(PROCS) $(RACED)))

# What runs under the race detector uses all processors, and the tests of a fleet wait for most of their time.
# The examples are under -race too: what they have of it is compiled before.
.PHONY: beside
beside: raced
	$(call say,under -race; and beside it modules of their own; examples; firmware; each workload)
	@.ci/together '$(MAKE) --no-print-directory -o raced race STARTED=$(STARTED)' \
		'$(MAKE) --no-print-directory modules STARTED=$(STARTED)' \
		'$(MAKE) --no-print-directory examples firmware STARTED=$(STARTED)' \
		'$(GO_TEST) -short ./workloads/benchtest' \
		'$(GO_TEST) -run "$(SEEDED)" ./impls/serial'

.PHONY: race-all
race-all:
	$(call say,all tests under -race in full)
	$(if $(RACE),$(NIGHT_TEST) -race -p 1 -skip '$(PLANTED)' $$(comm -23 <(go list ./... | sort) <(go list $(SEQUENTIAL) | sort)))
	$(if $(RACE),$(call each,fleet actor/natslink actor/protocodec,$(NIGHT_TEST) -race -p 1 -skip '^TestStorm' ./...))

# For how many seconds the tests of each package are repeated.
AGAIN ?= 60

.PHONY: again
again: ## the short tests of all packages again and again, beside one another, for AGAIN=60 seconds each
	$(call say,short tests of all packages for $(AGAIN) s each)
	$(call each,$(MODULES),$(CURDIR)/.ci/again $(AGAIN) ./...)

.PHONY: examples
examples:
	$(call say,an implementation in another module)
	cd examples/outoftree && $(GO_TEST) $(RACE) . && $(GO_TEST) -run '^$$' -bench . -benchtime 10x .

# What they import of others takes minutes to compile for the race detector: that is of the night.
.PHONY: modules
modules:
	$(call say,modules of their own at a time: actors over NATS; protocol buffers; a fleet of machines; the peers)
	@.ci/together \
		'cd actor/natslink && $(GO_TEST) ./...' \
		'cd actor/protocodec && $(GO_TEST) ./...' \
		'cd fleet && $(GO_TEST) -short ./...' \
		'cd peers && $(GO_TEST) ./... && $(GO_TEST) -run "^$$" -bench "workload=short/.*/impl=peer" -benchtime 1x .'

.PHONY: peers
peers: benchrun ## build the peers in other languages, as far as this machine has what they need
	$(BIN)/benchrun peers build

# Without TinyGo, make policy type-checks the boards' packages as it would, and holds all that boards
# carry to the packages that it has.
.PHONY: firmware
firmware: ## compile the firmware of each microcontroller, if there is TinyGo
	$(call say,the firmware of microcontrollers)
	@boards=$$(cd hw/boards && grep -l '"kind": *"tinygo"' */board.json | xargs -n 1 dirname); \
	if ! command -v tinygo >/dev/null; then \
		echo "SKIPPED: TinyGo is not installed, and the firmware of" $$boards "is not compiled: make policy has type-checked its packages, and their imports against those that TinyGo has"; \
	else \
		for b in $$boards; do go run ./cmd/benchrun board build --impl serial --parts bench "$$b"; done; \
		tinygo build -target=cortex-m-qemu -o /dev/null ./examples/pingpong; \
	fi

.PHONY: soak
soak: ## the long tests: SOAK=1000 rounds, plain and under -race (hours)
	$(call say,soak of $(SOAK) rounds)
	DYNO_SOAK=$(SOAK) go test -count=1 -timeout 0 ./actor ./actor/scenario ./impls/... ./conformance/...
	$(call say,40 processes killed under load, and 10^7 messages over a wire that breaks)
	DYNO_REMOTE_KILLS=40 DYNO_REMOTE_SOAK=10000000 go test -count=1 -v -timeout 0 -run '^Test(Kill|Soak)$$' ./actor/remote
	$(call say,soak of $(SOAK) rounds under -race)
	DYNO_SOAK=$(SOAK) go test -count=1 -race -timeout 0 ./actor ./actor/scenario ./impls/... ./conformance/...

.PHONY: storm
storm: ## a fleet of five machines in a storm: 200 plans, 100 kills; and that its checks find what they are for (half an hour)
	$(call say,a fleet in a storm)
	cd fleet && $(NIGHT_TEST) -v -run '^TestStorm' .

.PHONY: idle
idle: fleet ## what an agent without a job takes of a processor, into OUT (five minutes)
	cd fleet && $(BIN)/benchrun run . --bench '^BenchmarkIdleAgent$$' --mode process --time 1x --blocks 3 --timeout 10m $(if $(OUT),--out $(abspath $(OUT)))

# How long generated mutants are tried. An hour is a sample; all of them, MUTATE=0, are days on
# two processors. Whoever asks again on the same commit goes on where it stopped.
MUTATE ?= 1h
nightly: MUTATE = 8h

# Two at a time: the clauses are to run on a machine that is not drowned in them.
.PHONY: mutants
mutants: ## change the source in small ways, and see the tests fail: MUTATE=1h is how long
	$(call say,generated mutants of the actor core, the implementations, remoting and the engine)
	cd tools && go run ./mutants -for $(MUTATE)
	$(call say,bugs planted by hand: the clauses and tests for them fail 40 times of 40)
	cd tools && go run ./planted -n 40 -jobs 2
	DYNO_NIGHTLY=1 DYNO_WRONG=40 go test -count=1 -timeout 0 -parallel 2 -v -run '$(PLANTED)' ./conformance/conformtest

.PHONY: cover
cover: ## what part of the contracts and of every implementation their tests run, and what not
	$(call say,coverage)
	go test -count=1 -tags dynocheck -coverpkg=$(subst $(SPACE),$(COMMA),$(COVERED)) -coverprofile=cover.out $(COVERED)
	@echo; echo "functions not covered in full:"; go tool cover -func=cover.out | grep -v '100.0%$$'
	@echo; $(covered) cover.out

.PHONY: findings
findings: ## what others' software does otherwise than guessed: is it so still? (fetches packages; outside CI)
	@failed=0; for f in findings/*.sh; do \
		[ "$$f" = findings/lib.sh ] && continue; \
		status=0; out=$$("$$f" 2>&1) || status=$$?; \
		case $$status in \
		0) echo "pass $$f" ;; \
		77) echo "skip $$f: $$(tail -n 1 <<<"$$out")" ;; \
		*) failed=1; echo "fail $$f"; sed 's/^/    /' <<<"$$out" ;; \
		esac; \
	done; exit $$failed

.PHONY: clean
clean: ## remove what make has built
	rm -rf bin cover.out

.PHONY: benchrun
benchrun:
	go build -o $(BIN)/benchrun ./cmd/benchrun

.PHONY: fleet
fleet: benchrun ## build benchfleet beside benchrun: what a fleet of machines needs
	cd fleet && go build -o $(BIN)/ ./cmd/benchfleet

$(BIN)/gofumpt: TOOL := mvdan.cc/gofumpt
$(BIN)/staticcheck: TOOL := honnef.co/go/tools/cmd/staticcheck
$(BIN)/gofumpt $(BIN)/staticcheck: tools/go.mod tools/go.sum
	cd tools && go build -ldflags=-s -o $@ $(TOOL)
	@touch $@
