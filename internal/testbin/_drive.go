package testing

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// This file becomes a part of package testing in binaries that can be driven. It
// imports nothing whose own tests would be in a cycle then.
//
// Everything here runs on the benchmark's goroutine. Between slices that is
// blocked, in the poller, on the pipe where commands come from, and nothing of
// ours runs beside it.

// drive is the benchmark that is driven, if there is one.
var drive = newDriver()

// A driver takes commands and measures slices.
type driver struct {
	name     string // of the benchmark; "" in an ordinary process
	in, out  *os.File
	report   bool   // nothing is driven: out is told what runs, and what came of it
	begun    string // the latest benchmark that was reported to run
	slow     float64
	counters bool
	deps     testDeps

	buf  [8 << 10]byte // what was read and is not obeyed yet
	have int           // bytes of it
	say  []byte        // the answer that is being written

	mode    string // as the lab was told; "" before
	running bool   // in loops: a slice is under way
	collect bool   // in runN: collect garbage before the next call, as go test does

	gcs           uint32        // at the beginning of a slice
	cpu           time.Duration // of the process, at the beginning of a slice
	before, after driveCounters

	// What was measured since the last reset.
	n             int
	time          time.Duration
	allocs, bytes uint64
	extra         map[string][]float64 // of each slice, where b.N is what a slice is
	began         driveResources       // at the reset

	profile *os.File
	kind    string // of the profile
}

// newDriver reads the environment, and takes the variable out of it: processes
// that the benchmark starts are not driven, and have nothing to do with the files.
func newDriver() *driver {
	const variable = "DYNO_DRIVE"
	d := new(driver)
	text, ok := os.LookupEnv(variable)
	if !ok {
		return d
	}
	os.Unsetenv(variable)
	protocol := driveProtocol
	for field := range strings.FieldsSeq(text) {
		switch key, value, _ := strings.Cut(field, "="); key {
		case "list":
			d.fail("it is a Go test binary, whose benchmarks are found by running it: benchrun run --binary")
		case "report":
			d.report = true
		case "protocol":
			protocol = value
		case "slow":
			d.slow, _ = strconv.ParseFloat(value, 64)
		case "counters":
			d.counters = value == "true"
		case "name":
			d.name = value
		}
	}
	const in, out = 3, 4
	if d.report {
		syscall.CloseOnExec(in)
		d.out = os.NewFile(in, "report")
		d.event("reports", driveProtocol)
		return d
	}
	syscall.CloseOnExec(in)
	syscall.CloseOnExec(out)
	if err := syscall.SetNonblock(in, true); err != nil {
		d.fail("file descriptor 3, where commands should come from: " + err.Error())
	}
	d.in, d.out = os.NewFile(in, "commands"), os.NewFile(out, "answers")
	if protocol != driveProtocol {
		d.tell("refused", driveMark+", and not "+protocol)
		os.Exit(0)
	}
	return d
}

const (
	// driveProtocol is the version of the driving protocol that this file speaks.
	driveProtocol = "1"
	// driveMark is in every binary that can be driven, and in no other: this text,
	// in which it does not stand whole, may be.
	driveMark = "this binary of package testing speaks version " + driveProtocol + " of dyno's " + "driving protocol"
)

// fail ends the process. It is for what has nothing to do with the benchmark.
func (d *driver) fail(why string) {
	os.Stderr.WriteString("testing: a driven benchmark: " + why + "\n")
	os.Exit(3)
}

// driven reports whether b is the benchmark that is driven.
func (b *B) driven() bool { return drive.name != "" && b.name == drive.name }

// driveMain keeps what can write profiles, and reports which benchmarks there are.
func driveMain(deps testDeps, benchmarks []InternalBenchmark) {
	drive.deps = deps
	drive.event("begins")
	for _, b := range benchmarks {
		drive.event("has", b.Name)
	}
}

// event reports something, if that is asked for. A panic may have another goroutine report
// meanwhile, so that each is one write, and shares no memory.
func (d *driver) event(word string, texts ...string) {
	if !d.report {
		return
	}
	line := []byte(word)
	for _, s := range texts {
		line = strconv.AppendQuote(append(line, '\t'), s)
	}
	if _, err := d.out.Write(append(line, '\n')); err != nil {
		d.fail("reporting: " + err.Error())
	}
}

// reported reports whether events are due of b: neither of the parent of all benchmarks nor
// of those that a test runs by itself.
func (b *B) reported() bool { return drive.report && strings.HasPrefix(b.name, "Benchmark") }

// driveRuns is called at the beginning of each call of a benchmark function.
func (b *B) driveRuns() {
	if b.reported() && drive.begun != b.name {
		drive.begun = b.name
		drive.event("runs", b.name)
	}
}

// driveResult is called when a benchmark has been measured as go test does it, without
// subbenchmarks, and reports the line that testing prints.
func (b *B) driveResult() {
	if !b.reported() || b.Failed() {
		return
	}
	line := b.result.String()
	if *benchmarkMemory || b.showAllocResult {
		line += "\t" + b.result.MemString()
	}
	b.mu.RLock()
	said := string(b.output)
	b.mu.RUnlock()
	drive.event("result", b.name, strconv.Itoa(b.result.N), line, said)
}

// begin begins an answer, add adds to it, and send sends it.
func (d *driver) begin(word string) { d.say = append(d.say[:0], word...) }

func (d *driver) add(n uint64) { d.say = strconv.AppendUint(append(d.say, '\t'), n, 10) }

func (d *driver) addText(s string) { d.say = strconv.AppendQuote(append(d.say, '\t'), s) }

func (d *driver) addValue(kind byte, name string, v float64) {
	d.say = append(d.say, '\t', kind, ':')
	d.say = append(d.say, name...)
	d.say = strconv.AppendFloat(append(d.say, '='), v, 'g', -1, 64)
}

func (d *driver) send() {
	d.say = append(d.say, '\n')
	if _, err := d.out.Write(d.say); err != nil {
		d.fail("answering: " + err.Error())
	}
}

// tell sends an answer that is one text.
func (d *driver) tell(word, text string) {
	d.begin(word)
	d.addText(text)
	d.send()
}

// hello says that the first slice can come.
func (d *driver) hello(mode string, unit int, probe time.Duration) {
	d.mode = mode
	d.begin("hello\t" + mode)
	d.add(uint64(max(unit, 1)))
	d.add(uint64(probe))
	d.send()
}

// command waits for the next command. Who gives them closes the pipe when it
// ends, for whatever reason, and the process ends with it.
func (d *driver) command() string {
	for {
		if i := bytes.IndexByte(d.buf[:d.have], '\n'); i >= 0 {
			s := string(d.buf[:i])
			d.have = copy(d.buf[:], d.buf[i+1:d.have])
			return s
		}
		n, err := d.in.Read(d.buf[d.have:])
		if err != nil || n == 0 {
			d.fail("no more commands come")
		}
		d.have += n
	}
}

// next obeys commands up to one for a slice, of which it returns the number of
// operations, or to the end of the benchmark: then it returns 0. reset is called
// for each reset, after the timer has been reset.
func (d *driver) next(b *B, reset func()) int {
	for {
		word, arg, _ := strings.Cut(d.command(), " ")
		switch word {
		case "run", "call":
			n, err := strconv.Atoi(arg)
			if err != nil || n < 1 {
				d.fail("a slice of " + arg + " operations")
			}
			d.collect = word == "call"
			return n
		case "usage":
			d.usage()
		case "finish":
			return 0
		case "reset":
			d.n, d.time, d.allocs, d.bytes = 0, 0, 0, 0
			clear(d.extra)
			d.began.read()
			b.ResetTimer()
			if reset != nil {
				reset()
			}
			d.begin("reset")
			d.send()
		case "profile":
			d.profileErr(d.beginProfile(arg))
		case "endprofile":
			d.profileErr(d.endProfile())
		default:
			d.fail("unknown command " + word)
		}
	}
}

// usage answers how much the process has used, and how far apart collections are.
func (d *driver) usage() {
	samples := [...]metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"},
	}
	metrics.Read(samples[:])
	d.begin("usage")
	d.add(uint64(driveCPU()))
	gc := 0.0
	if v := samples[0].Value; v.Kind() == metrics.KindFloat64 {
		gc = v.Float64()
	}
	d.add(uint64(1e9 * gc))
	for _, s := range samples[1:] {
		v := uint64(0)
		if s.Value.Kind() == metrics.KindUint64 {
			v = s.Value.Uint64()
		}
		d.add(v)
	}
	d.send()
}

// start starts the measured part of a slice. The timer is off.
func (d *driver) start(b *B) {
	b.duration, b.netAllocs, b.netBytes = 0, 0, 0
	d.running = true
	if d.counters {
		d.before.read()
	}
	b.StartTimer()
	d.gcs = memStats.NumGC // as StartTimer has just read it
	d.cpu = driveCPU()
	b.start = highPrecisionTimeNow()
}

// stop stops the measured part of a slice of n operations. The timer is on, but
// if the benchmark has stopped it.
func (d *driver) stop(b *B, n int) {
	if d.slow > 0 {
		worked := b.Elapsed()
		for until := worked + time.Duration(d.slow*float64(worked)); b.timerOn && b.Elapsed() < until; {
		}
	}
	worked := b.Elapsed()
	cpu := driveCPU() - d.cpu // before the statistics are read, which takes some
	b.StopTimer()
	b.duration = worked
	d.running = false
	d.book(b, n, cpu)
}

// book books a slice that has been measured, and begins to answer.
func (d *driver) book(b *B, n int, cpu time.Duration) {
	if d.counters {
		d.after.read()
	}
	d.n += n
	d.time += b.duration
	d.allocs += b.netAllocs
	d.bytes += b.netBytes
	d.begin("slice")
	d.add(uint64(n))
	d.add(uint64(b.duration))
	d.add(uint64(max(cpu, 0)))
	d.add(b.netAllocs)
	d.add(b.netBytes)
	d.add(uint64(memStats.NumGC - d.gcs))
	if d.counters {
		d.after.since(&d.before, d.addValue)
	}
}

// addExtra adds the metrics to an answer that the benchmark has reported of its
// latest slice.
func (d *driver) addExtra(extra map[string]float64) {
	for unit, v := range extra {
		d.addValue('x', unit, v)
	}
}

// total makes all slices since the last reset the run that b reports.
func (d *driver) total(b *B) {
	b.N = d.n
	b.duration, b.netAllocs, b.netBytes = d.time, d.allocs, d.bytes
}

// DriveAsked reports whether b is driven: whether a driver will tell it
// slice by slice what to do. A benchmark that knows how calls
// [B.DriveSession] then, or [B.DriveRefused].
func (b *B) DriveAsked() bool { return b.driven() && drive.mode == "" }

// DriveRefused says why the benchmark is not to be driven, and ends it.
func (b *B) DriveRefused(reason string) {
	drive.tell("refused", reason)
	b.SkipNow()
}

// DriveSession takes commands until there are no more. do does n operations, with
// the timer on; its error ends the session. unit is how many operations the
// smallest sensible piece of work has; of the bool, which test binaries of before
// 2026-11-22 gave a meaning, nothing is made. reset is called when what was before was to warm up and does not count, and end at the end, with
// the number of operations that count and what was allocated while their timer ran,
// to check them all and to report metrics. The timer has their time then.
func (b *B) DriveSession(unit int, _ bool, do func(n int) error, reset func(), end func(n int, allocs, bytes uint64) error) error {
	d := drive
	b.StopTimer()
	b.ResetTimer()
	if b.Failed() {
		return nil
	}
	d.hello("session", unit, 0)
	for n := d.next(b, reset); n > 0; n = d.next(b, reset) {
		d.start(b)
		err := do(n)
		d.stop(b, n)
		if err != nil {
			return err
		}
		if b.Failed() {
			return nil
		}
		d.send()
	}
	d.total(b)
	return end(d.n, d.allocs, d.bytes)
}

// driveLoop is the slow path of [B.Loop].
func (b *B) driveLoop() bool {
	d := drive
	if !b.timerOn {
		b.Fatal("B.Loop called with timer stopped")
	}
	if d.running {
		d.stop(b, int(b.loop.n))
		if !b.Failed() {
			d.addExtra(b.extra)
			d.send()
		}
	} else {
		b.N = 0
		b.StopTimer()
		b.ResetTimer()
		if !b.Failed() {
			d.hello("loop", 1, 0)
		}
	}
	if !b.Failed() {
		if n := d.next(b, nil); n > 0 {
			b.loop.n, b.loop.i = uint64(n), 1
			d.start(b)
			return true
		}
	}
	d.total(b)
	b.loop.n, b.loop.done = max(b.loop.n, 1), true
	return false
}

// driveLaunch is launch of a benchmark that is driven.
func (b *B) driveLaunch() {
	defer func() {
		// The benchmark may have called Goexit. If it panics the runtime is about to end
		// the process: told that it is over, main might end it first, and with success.
		if !drivePanics() {
			b.signal <- true
		}
	}()
	d := drive
	if b.previousN == 0 {
		// The first call of the function did not return. It panics, with
		// testing's deferred calls running meanwhile, or it has called Goexit.
		// The runtime ends the process either way.
		select {}
	}
	if d.mode == "" {
		f := b.benchFunc
		b.benchFunc = func(b *B) {
			d.gcs = memStats.NumGC // as StartTimer has just read it
			d.cpu = driveCPU()     // after the collection that a call may begin with
			f(b)
		}
		d.hello("runN", 1, b.duration)
		for n := d.next(b, nil); n > 0; n = d.next(b, nil) {
			d.runN(b, n)
			if b.Failed() {
				return
			}
			d.addExtra(b.extra)
			d.send()
		}
		d.total(b)
		clear(b.extra)
		for unit, vs := range d.extra {
			if len(vs) > 0 {
				slices.Sort(vs)
				b.extra[unit] = (vs[(len(vs)-1)/2] + vs[len(vs)/2]) / 2
			}
		}
	}
	b.result = BenchmarkResult{d.n, d.time, b.bytes, d.allocs, d.bytes, b.extra}
	line := ""
	if d.n > 0 {
		line = b.result.String()
		if *benchmarkMemory || b.showAllocResult {
			line += "\t" + b.result.MemString()
		}
	}
	d.begin("result")
	d.addText(line)
	d.addExtra(b.extra)
	d.began.since(d.addValue)
	d.send()
}

// drivePanics reports whether the calling goroutine, in a deferred function, panics.
func drivePanics() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" {
			return true
		}
		if !more {
			return false
		}
	}
}

// driveCollect reports whether runN is to collect garbage before it calls the
// benchmark function. Before short calls it must not: then hardly any collection
// would come in the time that is measured, whatever the benchmark allocates.
func (b *B) driveCollect() bool { return !b.driven() || drive.mode == "" || drive.collect }

// runN measures a slice that is a call of the benchmark function.
func (d *driver) runN(b *B, n int) {
	if d.counters {
		d.before.read() // before a collection, with which runN may begin
	}
	b.runN(n)
	if b.Failed() {
		return
	}
	if d.slow > 0 {
		begin := highPrecisionTimeNow()
		wait := time.Duration(d.slow * float64(b.duration))
		for highPrecisionTimeSince(begin) < wait {
		}
		b.duration += highPrecisionTimeSince(begin)
	}
	d.book(b, n, driveCPU()-d.cpu)
	if d.extra == nil {
		d.extra = make(map[string][]float64)
	}
	for unit, v := range b.extra {
		d.extra[unit] = append(d.extra[unit], v)
	}
}

// driveRan is called at the end of each call of a benchmark function, however it
// ended: it says what the lab would have to guess.
func (b *B) driveRan() {
	if !b.driven() && !b.reported() {
		return
	}
	b.mu.RLock()
	skipped, failed, said := b.skipped, b.failed, string(b.output)
	b.mu.RUnlock()
	switch {
	case drive.report && drivePanics():
		drive.event("panics", b.name)
	case drive.report && skipped:
		drive.event("skipped", b.name, said)
	case drive.report && failed:
		drive.event("failed", b.name, said)
	case drive.report && b.hasSub.Load():
		drive.event("ran", b.name)
	case drive.report:
	case skipped:
		drive.tell("skipped", said)
	case b.hasSub.Load():
		drive.tell("refused", "it has sub-benchmarks")
	}
}

// beginProfile begins a profile: arg is its kind, a space, and a file's name. What
// is counted since the process began is also written to that name and ".before".
func (d *driver) beginProfile(arg string) error {
	kind, path, _ := strings.Cut(arg, " ")
	switch kind {
	case "cpu":
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		d.profile, d.kind = f, kind
		return d.deps.StartCPUProfile(f)
	case "mutex":
		runtime.SetMutexProfileFraction(1)
	case "block":
		runtime.SetBlockProfileRate(1)
	}
	f, err := os.Create(path + ".before")
	if err != nil {
		return err
	}
	if err := d.deps.WriteProfileTo(kind, f, 0); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	d.profile, err = os.Create(path)
	d.kind = kind
	return err
}

func (d *driver) endProfile() error {
	if d.profile == nil {
		return os.ErrInvalid
	}
	f := d.profile
	d.profile = nil
	if d.kind == "cpu" {
		d.deps.StopCPUProfile()
		return f.Close()
	}
	err := d.deps.WriteProfileTo(d.kind, f, 0)
	switch d.kind {
	case "mutex":
		runtime.SetMutexProfileFraction(0)
	case "block":
		runtime.SetBlockProfileRate(0)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return err
}

// profileErr answers a command about profiles.
func (d *driver) profileErr(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	d.tell("profile", text)
}

// driveCPU returns the processor time that the process has used, of all its
// threads, to a microsecond; 0 if the system does not tell.
func driveCPU() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// driveResources are what a process has used of collections, as they are when the
// measured slices begin. What they are at the end, and memory, is told with the
// result.
type driveResources struct {
	gcs     uint32
	samples [2]metrics.Sample // processor time of collections, live heap
}

func (r *driveResources) read() {
	r.samples[0].Name, r.samples[1].Name = "/cpu/classes/gc/total:cpu-seconds", "/gc/heap/live:bytes"
	metrics.Read(r.samples[:])
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.gcs = m.NumGC
}

// since tells what was used since r was read, and how much memory is held.
func (r *driveResources) since(add func(kind byte, name string, v float64)) {
	if r.samples[0].Name == "" {
		return // there was no reset
	}
	var now driveResources
	now.read()
	add('r', "gcs", float64(now.gcs-r.gcs))
	if v := now.samples[0].Value; v.Kind() == metrics.KindFloat64 {
		add('r', "gc-cpu-ns", 1e9*(v.Float64()-r.samples[0].Value.Float64()))
	}
	if v := now.samples[1].Value; v.Kind() == metrics.KindUint64 {
		add('r', "live-heap-B", float64(v.Uint64()))
	}
	if rss := drivePeak(); rss > 0 {
		add('r', "peak-rss-B", rss)
	}
}

// drivePeak returns the most bytes that the process ever held in memory; 0 if the system does
// not tell. Linux keeps what getrusage tells across execve: of a small process that is what the
// program held that started it. What it says of the memory of now begins with the program.
func drivePeak() float64 {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, rest, ok := strings.Cut(string(status), "\nVmHWM:"); ok {
			if kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				return kib * 1024
			}
		}
	}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(usage.Maxrss) // bytes; elsewhere KiB
	}
	return float64(usage.Maxrss) * 1024
}

// driveCounters are what the runtime and the operating system count.
type driveCounters struct {
	samples    []metrics.Sample
	usage      syscall.Rusage
	goroutines int // not the metric, which since Go 1.26 has the runtime's own too
}

// The metrics that are read, each under a shorter name. What counts up is told as
// what was added; a level is told as it is at the end; of the scheduler's
// latencies, two quantiles and the number are told.
var driveMetrics = [...]struct {
	metric, name string
	scale        float64
	level        bool
}{
	{metric: "/sched/latencies:seconds", name: "sched"},
	{metric: "/gc/cycles/total:gc-cycles", name: "gc-cycles", scale: 1},
	{metric: "/gc/heap/live:bytes", name: "heap-live-B", scale: 1, level: true},
	{metric: "/sync/mutex/wait/total:seconds", name: "mutex-wait-ns", scale: 1e9},
	{metric: "/sched/goroutines-created:goroutines", name: "goroutines-created", scale: 1},
	{metric: "/sched/threads/total:threads", name: "threads", scale: 1, level: true},
	{metric: "/cpu/classes/gc/total:cpu-seconds", name: "gc-cpu-ns", scale: 1e9},
	{metric: "/cgo/go-to-c-calls:calls", name: "cgo-calls", scale: 1},
}

func (c *driveCounters) read() {
	if c.samples == nil {
		c.samples = make([]metrics.Sample, len(driveMetrics))
		for i, m := range driveMetrics {
			c.samples[i].Name = m.metric
		}
	}
	metrics.Read(c.samples)
	c.goroutines = runtime.NumGoroutine()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &c.usage)
}

// since tells what moved since before.
func (c *driveCounters) since(before *driveCounters, add func(kind byte, name string, v float64)) {
	for i, m := range driveMetrics {
		then, now := before.samples[i].Value, c.samples[i].Value
		var v float64
		switch now.Kind() {
		case metrics.KindUint64:
			if v = float64(now.Uint64()); !m.level {
				v = float64(now.Uint64() - then.Uint64())
			}
		case metrics.KindFloat64:
			if v = now.Float64(); !m.level {
				v -= then.Float64()
			}
		case metrics.KindFloat64Histogram:
			driveSince(then.Float64Histogram(), now.Float64Histogram(), func(name string, v float64) { add('c', m.name+name, v) })
			continue
		default:
			continue // this Go does not have it
		}
		add('c', m.name, v*m.scale)
	}
	add('c', "goroutines", float64(c.goroutines))
	then, now := &before.usage, &c.usage
	add('c', "voluntary-switches", float64(now.Nvcsw-then.Nvcsw))
	add('c', "involuntary-switches", float64(now.Nivcsw-then.Nivcsw))
	add('c', "user-ns", float64(now.Utime.Nano()-then.Utime.Nano()))
	add('c', "system-ns", float64(now.Stime.Nano()-then.Stime.Nano()))
	add('c', "minor-faults", float64(now.Minflt-then.Minflt))
	add('c', "major-faults", float64(now.Majflt-then.Majflt))
}

// driveSince tells the number of what was added to a histogram of seconds, and the
// upper end, in nanoseconds, of the buckets with its median and its 99th
// percentile.
func driveSince(then, now *metrics.Float64Histogram, add func(name string, v float64)) {
	total := uint64(0)
	for i := range now.Counts {
		total += now.Counts[i] - then.Counts[i]
	}
	add("-events", float64(total))
	if total == 0 {
		return
	}
	for _, q := range [...]struct {
		name    string
		percent uint64
	}{{"-p50-ns", 50}, {"-p99-ns", 99}} {
		seen := uint64(0)
		for i := range now.Counts {
			if seen += now.Counts[i] - then.Counts[i]; 100*seen >= q.percent*total {
				end := now.Buckets[i+1]
				if math.IsInf(end, 1) {
					end = now.Buckets[i]
				}
				add(q.name, 1e9*end)
				break
			}
		}
	}
}
