// Countpower plants changes into public modules and looks who finds them: benchrun ab --count, ab by
// time and benchstat. docs/counts.md has the tables. It appends a line for each plant to a file, and
// goes on behind those that are there.
//
//	go run ./countpower -benchrun /path/benchrun -benchstat /path/benchstat -out plants.jsonl [-n 60] [-for 10m]
//
// With -same nothing is planted that runs: a function is added to each package, and a line written for
// each benchmark, of which no count may differ.
//
// The truth is counted apart, with Valgrind on its own: a change is planted that needs at least half
// a percent more instructions, of a size drawn at random.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/pprof/profile"
)

// modules have what is planted into.
var modules = []struct {
	path string   // with its version
	pkgs []string // relative to it
}{
	{"github.com/google/btree@v1.1.3", []string{"."}},
	{"github.com/bits-and-blooms/bitset@v1.20.0", []string{"."}},
	{"github.com/google/uuid@v1.6.0", []string{"."}},
	{"github.com/emirpasic/gods@v1.18.1", []string{"maps/hashmap", "maps/treemap", "trees/btree", "lists/arraylist", "trees/binaryheap", "sets/hashset"}},
	{"github.com/gorilla/mux@v1.8.1", []string{"."}},
	{"github.com/sourcegraph/conc@v0.3.0", []string{"pool", "stream", "."}},
}

// A plant is a change, and what was said of it.
type plant struct {
	ID        int    `json:"id"`
	Module    string `json:"module"`
	Pkg       string `json:"pkg"`
	Benchmark string `json:"benchmark"`
	Kind      string `json:"kind"`
	Function  string `json:"function,omitempty"`
	File      string `json:"file,omitempty"`
	First     int    `json:"first,omitempty"` // line of the function in File
	Last      int    `json:"last,omitempty"`
	Every     int    `json:"every,omitempty"` // so many calls, something is done
	Times     int    `json:"times,omitempty"` // so many times

	Truth float64 `json:"truth,omitempty"` // by how much more instructions an operation needs, in percent

	Count     found `json:"count"`
	CountLoad found `json:"count_load,omitzero"` // beside processes that spin
	Time      found `json:"time,omitzero"`       // ab by time, in as much time
	TimeLoad  found `json:"time_load,omitzero"`
	Stat      found `json:"stat,omitzero"` // benchstat of 10 values a side in as much time
	StatLoad  found `json:"stat_load,omitzero"`
	StatLong  found `json:"stat_long,omitzero"` // and of 10 values of a second each

	Load string `json:"load,omitempty"` // of the machine, as Linux has it

	Named   string `json:"named,omitempty"` // where why says first that it is
	IsNamed bool   `json:"is_named"`        // and it is there
}

// A found is what a way says of a plant.
type found struct {
	Verdict string  `json:"verdict"`
	Change  float64 `json:"change"`  // in percent
	Seconds float64 `json:"seconds"` // that it took, without building
}

var (
	benchrun  = flag.String("benchrun", "benchrun", "the `program`")
	benchstat = flag.String("benchstat", "", "the `program`; none leaves it out")
	out       = flag.String("out", "plants.jsonl", "the `file` to append to")
	n         = flag.Int("n", 60, "how `many` plants")
	limit     = flag.Duration("for", 9*time.Minute, "begin nothing after so long")
	spin      = flag.Int("spin", 4, "measure again beside so many processes that spin; 0 does not")
	sum       = flag.Bool("sum", false, "print the table of what there is, and plant nothing")
	most      = flag.Int("most", 40, "how `many` benchmarks -same counts at a time, about")
	same      = flag.Bool("same", false, "plant code that does not run")
	every     = flag.Int("every", 1, "measure time of one plant in so `many`")
	long      = flag.Bool("long", false, "have benchstat's ten values of a second each, too")
	work      = flag.String("work", filepath.Join(os.TempDir(), "countpower"), "the `folder` for copies of modules")
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "spinning" {
		var turns atomic.Int64
		for {
			turns.Add(1)
		}
	}
	flag.Parse()
	log.SetFlags(log.Ltime)
	data, err := os.ReadFile(*out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Fatal(err)
	}
	if *sum {
		if err := table(os.Stdout, data); err != nil {
			log.Fatal(err)
		}
		return
	}
	file, err := os.OpenFile(*out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	begun := time.Now()
	next := 0
	for line := range bytes.Lines(data) {
		var p plant
		if err := json.Unmarshal(line, &p); err != nil {
			log.Fatal(err)
		}
		next = max(next, p.ID+1)
	}
	for id := next; id < *n && time.Since(begun) < *limit; id++ {
		what := one
		if *same {
			what = unrelated
		}
		all, err := what(id)
		if err != nil {
			log.Fatalf("plant %d: %v", id, err)
		}
		for _, p := range all {
			line, err := json.Marshal(p)
			if err == nil {
				_, err = file.Write(append(line, '\n'))
			}
			if err != nil {
				log.Fatal(err)
			}
			log.Printf("%s", line)
		}
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}

// one plants and measures. Plants of one number are the same.
func one(id int) ([]*plant, error) {
	m := modules[id%len(modules)]
	folder, err := lay(m.path)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, uint64(id)))
	for try := range 20 {
		p := &plant{ID: id, Module: m.path, Kind: kinds[id/len(modules)%len(kinds)].name, Every: 1, Times: 1}
		p.Pkg = m.pkgs[(id/len(modules)+try)%len(m.pkgs)]
		if err := reset(folder); err != nil {
			return nil, err
		}
		old, err := build(folder, p.Pkg, "old.test")
		if err != nil {
			return nil, err
		}
		if err := p.choose(r, folder, old); err != nil {
			log.Printf("plant %d: %v", id, err)
			continue
		}
		ok, err := p.put(r, folder, old)
		if err != nil {
			return nil, err
		}
		if ok {
			return []*plant{p}, p.measure(folder, old)
		}
	}
	return nil, errors.New("nothing to plant was found")
}

// unrelated adds functions to a package that none of its benchmarks calls, before all others or
// behind them, and counts some of the benchmarks: of a package all in turn.
func unrelated(id int) ([]*plant, error) {
	m := modules[id%len(modules)]
	folder, err := lay(m.path)
	if err != nil {
		return nil, err
	}
	k := id / len(modules)
	p := plant{ID: id, Module: m.path, Pkg: m.pkgs[k%len(m.pkgs)], Kind: "unrelated", Times: 1 + k, Load: loadOf()}
	if err := reset(folder); err != nil {
		return nil, err
	}
	old, err := build(folder, p.Pkg, "old.test")
	if err != nil {
		return nil, err
	}
	names, err := p.benchmarks(folder, old)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]int) // by function
	var tops []string
	for _, name := range names {
		top, _, _ := strings.Cut(name, "/")
		if rows[top]++; rows[top] == 1 {
			tops = append(tops, top)
		}
	}
	// As many as fit, beginning where the last time of this package ended.
	var chosen []string
	n, first := 0, k/len(m.pkgs)*len(tops)/3
	for i := range tops {
		top := tops[(first+i)%len(tops)]
		if n += rows[top]; n > *most && len(chosen) > 0 {
			break
		}
		chosen = append(chosen, regexp.QuoteMeta(top))
	}
	functions, err := functionsOf(filepath.Join(folder, p.Pkg))
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(unrelatedHead, functions[0].pkg)
	for i := range p.Times {
		text += fmt.Sprintf(unrelatedText, i)
	}
	name := []string{"aaa_unrelated.go", "zzz_unrelated.go"}[k%2]
	if err := os.WriteFile(filepath.Join(folder, p.Pkg, name), []byte(text), 0o644); err != nil {
		return nil, err
	}
	found, err := p.ab(folder, "^("+strings.Join(chosen, "|")+")$", "instrs/op", "--count")
	var all []*plant
	for _, f := range found {
		one := p
		one.Benchmark, one.Count = f.row, f.found
		all = append(all, &one)
	}
	return all, err
}

const unrelatedHead = `package %s

import (
	"fmt"
	"os"
)
`

const unrelatedText = `
func unrelated%[1]d(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += len(fmt.Sprint(i, os.Args))
	}
	return sum
}

func init() {
	if len(os.Args) > 1000 {
		fmt.Println(unrelated%[1]d(len(os.Args)))
	}
}
`

// lay has a copy of a module, with a history of one commit, and returns its folder.
func lay(path string) (string, error) {
	folder := filepath.Join(*work, regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(path, "-"))
	if _, err := os.Stat(filepath.Join(folder, ".git")); err == nil {
		return folder, nil
	}
	said, err := run("", "go", "mod", "download", "-json", path)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal([]byte(said), &m); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	if err := os.CopyFS(folder, os.DirFS(m.Dir)); err != nil {
		return "", err
	}
	for _, line := range []string{"chmod -R u+w .", "go mod tidy", "git init -q", "git add -A", "git -c user.name=x -c user.email=x@example.com commit -q -m old"} {
		if _, err := run(folder, "sh", "-c", line); err != nil {
			return "", err
		}
	}
	return folder, nil
}

func reset(folder string) error {
	_, err := run(folder, "sh", "-c", "git checkout -q . && git clean -fdq")
	return err
}

// run runs a command and returns what it printed; an error has what it said of itself.
func run(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	var stderr strings.Builder
	cmd.Stderr = &stderr
	said, err := cmd.Output()
	if err != nil {
		return string(said), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, cmp.Or(stderr.String(), string(said)))
	}
	return string(said), nil
}

func build(folder, pkg, name string) (string, error) {
	path := filepath.Join(*work, name)
	_, err := run(folder, "go", "test", "-c", "-o", path, "./"+pkg)
	return path, err
}

// pattern matches a benchmark and no other.
func (p *plant) pattern() string {
	var all []string
	for part := range strings.SplitSeq(p.Benchmark, "/") {
		all = append(all, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(all, "/")
}

var procs = regexp.MustCompile(`-\d+$`)

// benchmarks are those of the package whose operations take less than 50 ms.
func (p *plant) benchmarks(folder, old string) (names []string, err error) {
	said, err := run(filepath.Join(folder, p.Pkg), "timeout", "60", old, "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.cpu=1")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) > 3 && strings.HasPrefix(f[0], "Benchmark") {
			if ns, err := strconv.ParseFloat(f[2], 64); err == nil && ns < 5e7 {
				names = append(names, procs.ReplaceAllString(f[0], ""))
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no benchmarks", p.Pkg)
	}
	return names, nil
}

// choose draws a benchmark, and a function that it spends time in.
func (p *plant) choose(r *rand.Rand, folder, old string) error {
	at := filepath.Join(folder, p.Pkg)
	names, err := p.benchmarks(folder, old)
	if err != nil {
		return err
	}
	p.Benchmark = names[r.IntN(len(names))]
	cpu := filepath.Join(*work, "cpu")
	if _, err := run(at, "timeout", "60", old, "-test.run=^$", "-test.bench="+p.pattern(), "-test.benchtime=200ms", "-test.cpu=1", "-test.cpuprofile="+cpu); err != nil {
		return err
	}
	data, err := os.ReadFile(cpu)
	if err != nil {
		return err
	}
	prof, err := profile.ParseData(data)
	if err != nil {
		return err
	}
	functions, err := functionsOf(at)
	if err != nil {
		return err
	}
	var in []function
	for _, f := range prof.Function {
		_, base, _ := strings.Cut(filepath.Base(f.Name), ".")
		base = regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(base, "")
		for _, k := range functions {
			if k.name == base && filepath.Base(k.file) == filepath.Base(f.Filename) && strings.Contains(f.Name, strings.Split(p.Module, "@")[0]) && !slices.Contains(in, k) {
				in = append(in, k)
			}
		}
	}
	if len(in) == 0 {
		return fmt.Errorf("%s spends no time in functions of its package", p.Benchmark)
	}
	slices.SortFunc(in, func(a, b function) int { return cmp.Or(cmp.Compare(a.file, b.file), a.first-b.first) })
	f := in[r.IntN(len(in))]
	p.Function, p.File, p.First, p.Last = f.name, filepath.Base(f.file), f.first, f.last
	return nil
}

// put plants a change of a size that is drawn, and reports whether it is large enough.
func (p *plant) put(r *rand.Rand, folder, old string) (bool, error) {
	target := 0.6 * math.Exp(r.Float64()*math.Log(10)) // 0.6 to 6 %
	before, ops, err := p.truth(folder, old, 0)
	if err != nil {
		log.Printf("plant %d: %v", p.ID, err)
		return false, nil
	}
	for range 2 {
		if err := reset(folder); err != nil {
			return false, err
		}
		functions, err := functionsOf(filepath.Join(folder, p.Pkg))
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(functions, func(f function) bool {
			return f.name == p.Function && filepath.Base(f.file) == p.File && f.first == p.First
		})
		if err := functions[i].plant(p.Kind, p.Every, p.Times); err != nil {
			return false, err
		}
		changed, err := build(folder, p.Pkg, "new.test")
		if err != nil {
			log.Printf("plant %d: %v", p.ID, err)
			return false, nil
		}
		after, _, err := p.truth(folder, changed, ops)
		if err != nil {
			log.Printf("plant %d: %v", p.ID, err)
			return false, nil
		}
		p.Truth = 100 * (after/before - 1)
		switch {
		case p.Truth < 0.001:
			return false, nil // it is not called for each operation
		case p.Every > 1 || p.Times > 1:
		case p.Truth > 2*target:
			p.Every = int(p.Truth / target)
			continue
		case p.Truth < 0.5:
			p.Times = int(math.Ceil(target / p.Truth))
			if p.Times > 10_000 {
				return false, nil
			}
			continue
		}
		break
	}
	return p.Truth >= 0.5, nil
}

// truth counts what an operation costs, over ops; 0 finds how many are worth it.
func (p *plant) truth(folder, binary string, ops int) (float64, int, error) {
	at := filepath.Join(folder, p.Pkg)
	args := func(benchtime string) []string {
		return []string{"-test.run=^$", "-test.bench=" + p.pattern(), "-test.cpu=1", "-test.memprofilerate=1000000000", "-test.benchtime=" + benchtime}
	}
	sized := ops == 0
	if sized {
		said, err := run(at, binary, args("20ms")...)
		if err != nil {
			return 0, 0, err
		}
		f := strings.Fields(said[max(0, strings.Index(said, "\nBenchmark")):])
		if len(f) < 2 {
			return 0, 0, fmt.Errorf("%s printed %q", p.Benchmark, said)
		}
		if ops, err = strconv.Atoi(f[1]); err != nil {
			return 0, 0, err
		}
		ops = max(ops, 20)
	}
	var totals [2]float64
	counts := [2]int{max(2, ops/10), ops}
	for i, n := range counts {
		cmd := []string{"GODEBUG=asyncpreemptoff=1,gcstoptheworld=1,randautoseed=0,cpu.rdtscp=off", "GOMAXPROCS=1", "timeout", "120", "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", binary}
		said, err := exec.Command("env", append(cmd, args(strconv.Itoa(n)+"x")...)...).CombinedOutput()
		refs := regexp.MustCompile(`I\s+refs:\s+([\d,]+)`).FindSubmatch(said)
		if err != nil || refs == nil {
			return 0, 0, fmt.Errorf("valgrind: %w: %s", err, said)
		}
		if totals[i], err = strconv.ParseFloat(strings.ReplaceAll(string(refs[1]), ",", ""), 64); err != nil {
			return 0, 0, err
		}
	}
	const worth = 2e8 // what a process varies by is a thousandth of it
	if got := totals[1] - totals[0]; sized && got < worth/2 && got > 0 {
		return p.truth(folder, binary, int(float64(ops)*min(1000, worth/got)))
	}
	return (totals[1] - totals[0]) / float64(counts[1]-counts[0]), ops, nil
}

// measure has all ways look at the plant.
func (p *plant) measure(folder, old string) error {
	changed := filepath.Join(*work, "new.test")
	p.Load = loadOf()
	loads := []bool{false}
	if *spin > 0 {
		loads = append(loads, true)
	}
	for _, loaded := range loads {
		count, byTime, stat := &p.Count, &p.Time, &p.Stat
		stop := func() {}
		if loaded {
			count, byTime, stat = &p.CountLoad, &p.TimeLoad, &p.StatLoad
			stop = spinning()
		}
		err := func() (err error) {
			if *count, err = p.only(folder, "instrs/op", "--count"); err != nil {
				return err
			}
			if (p.ID+1)%*every != 0 {
				return nil
			}
			within := time.Duration(max(1, count.Seconds) * float64(time.Second)).Round(100 * time.Millisecond)
			if *byTime, err = p.only(folder, "ns/op", "--within", within.String()); err != nil {
				return err
			}
			each := time.Duration(max(0.05, count.Seconds/20-0.05) * float64(time.Second) / 1.5)
			if *stat, err = p.stat(folder, old, changed, each); err == nil && !loaded && *long {
				p.StatLong, err = p.stat(folder, old, changed, time.Second)
			}
			return err
		}()
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// loadOf is the load of the machine, as Linux has it.
func loadOf() string {
	load, _ := os.ReadFile("/proc/loadavg")
	return strings.TrimSpace(string(load))
}

// spinning starts processes that spin, and returns what ends them.
func spinning() (stop func()) {
	var all []*exec.Cmd
	for range *spin {
		cmd := exec.Command(os.Args[0], "spinning")
		if err := cmd.Start(); err != nil {
			log.Fatal(err)
		}
		all = append(all, cmd)
	}
	return func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}

// only is what benchrun ab says of the plant.
func (p *plant) only(folder, unit string, flags ...string) (found, error) {
	all, err := p.ab(folder, p.pattern(), unit, flags...)
	if err != nil || len(all) == 0 {
		return found{Verdict: "missing"}, err
	}
	return all[0].found, nil
}

// A foundRow is what is said of a row.
type foundRow struct {
	row string
	found
}

// ab is what benchrun ab says of the benchmarks that match a pattern, each with its part of the time.
func (p *plant) ab(folder, pattern, unit string, flags ...string) (all []foundRow, err error) {
	results := filepath.Join(*work, "ab.bench")
	os.Remove(results)
	os.RemoveAll(strings.TrimSuffix(results, ".bench"))
	args := slices.Concat([]string{"ab", "--bench", pattern, "--idle", "off", "--out", results, "--cpu", "1"}, flags, []string{"HEAD", "--", "./" + p.Pkg})
	said, err := run(folder, *benchrun, args...)
	if err != nil {
		return nil, err
	}
	if unit == "instrs/op" {
		p.isNamed(said)
	}
	text, err := run(folder, *benchrun, "compare", "--format", "json", results)
	if err != nil {
		return nil, err
	}
	var c struct {
		Tables []struct {
			Unit string
			Rows []struct {
				Benchmark string
				Cells     []struct {
					Column, Verdict string
					Versus          struct{ Ratio float64 }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, err
	}
	seconds, err := secondsOf(results)
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for _, cell := range r.Cells {
				if t.Unit == unit && cell.Column == "new" {
					all = append(all, foundRow{r.Benchmark, found{cell.Verdict, 100 * (cell.Versus.Ratio - 1), seconds / float64(len(t.Rows))}})
				}
			}
		}
	}
	return all, err
}

// isNamed looks whether the first that is named is the function, or a line of it in one that it is
// inlined into.
func (p *plant) isNamed(said string) {
	m := regexp.MustCompile(`(?m)^\S.*: of [+-]\S+ %: (\S+)(?: \((\S+):(\d+)\))?`).FindStringSubmatch(said)
	if m == nil {
		return
	}
	p.Named = strings.TrimSpace(m[1] + " " + m[2] + ":" + m[3])
	_, name, _ := strings.Cut(m[1], ".")
	name = strings.ReplaceAll(name, "[…]", "")
	line, _ := strconv.Atoi(m[3])
	p.IsNamed = name == p.Function || strings.HasPrefix(name, p.Function+".func") || m[2] == p.File && line >= p.First && line <= p.Last
}

// stat is what benchstat says of ten values a side, old ones first.
func (p *plant) stat(folder, old, changed string, each time.Duration) (found, error) {
	if *benchstat == "" {
		return found{}, nil
	}
	begun := time.Now()
	var files []string
	for _, binary := range []string{old, changed} {
		said, err := run(filepath.Join(folder, p.Pkg), binary, "-test.run=^$", "-test.bench="+p.pattern(), "-test.count=10", "-test.cpu=1", "-test.benchtime="+each.String())
		if err != nil {
			return found{}, err
		}
		file := binary + ".txt"
		if err := os.WriteFile(file, []byte(said), 0o644); err != nil {
			return found{}, err
		}
		files = append(files, file)
	}
	f := found{Verdict: "inconclusive", Seconds: time.Since(begun).Seconds()}
	said, err := run("", *benchstat, "-format", "csv", files[0], files[1])
	if err != nil {
		return f, err
	}
	for line := range strings.Lines(said) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if len(cells) < 7 || strings.Contains(line, "sec/op") || cells[0] == "geomean" {
			continue
		}
		if change, err := strconv.ParseFloat(strings.TrimSuffix(cells[5], "%"), 64); err == nil {
			f.Verdict, f.Change = "slower", change
			if change < 0 {
				f.Verdict = "faster"
			}
		}
		break
	}
	return f, nil
}

// secondsOf is how long measuring took, from when the results file was begun, which is after
// linking, until it was last written.
func secondsOf(results string) (float64, error) {
	said, err := run("", "stat", "--printf=%.W %.Y", results)
	if err != nil {
		return 0, err
	}
	var begun, ended float64
	if _, err := fmt.Sscan(said, &begun, &ended); err != nil {
		return 0, err
	}
	return ended - begun, nil
}
