package scale

import (
	"fmt"
	"math"
	"sort"

	"github.com/dynolab/dyno/internal/record"
)

// A Machine is what the model knows of processors and memory, in nanoseconds.
type Machine struct {
	Own   float64 // a locked instruction on a line that this processor wrote last: add-ns of Cost/of=line, one processor
	Move  float64 // the same on one that another wrote last: Cost/of=handover, two processors
	Wake  float64 // from waking a worker that sleeps until it runs: wake-ns of Cost/of=wake, two processors
	Crowd float64 // how many times as long a job takes while another processor works: Group/workload=uneven/impl=ref-floor, two processors to one
	Yield float64 // looking around once: runtime.Gosched, Task/workload=yield/impl=ref-goroutines, one processor

	// What was not measured, for there was none: NUMA nodes, and how many times as long a
	// line's way is between two of them.
	Nodes int
	Far   float64
}

// A Kind is a kind of workload, whose costs on one processor are measured.
type Kind struct {
	Name  string
	Bench string // whose figures on one processor, and on two, are known

	// Fitted says that the figure on two processors was needed to divide that on one, so
	// that it says nothing about the model.
	Fitted bool

	One, Two float64 // ns an operation, measured

	make func() load
	ops  int
}

// A Model is a machine and kinds of workloads.
type Model struct {
	Machine
	Kinds []Kind
}

// figures are the least values of a file, by name with the number of processors and by unit. The least: what else
// runs on a machine makes blocks slower, never faster.
type figures map[[2]string]float64

func read(path string, data []byte) figures {
	all := figures{}
	for _, r := range record.Read(path, data).Results {
		for _, v := range r.Result.Values {
			unit := record.Written(v)
			key := [2]string{string(r.Result.Name), unit}
			ns := record.InUnit(v, unit)
			if least, ok := all[key]; !ok || ns < least {
				all[key] = ns
			}
		}
	}
	return all
}

// Calibrate makes a model of the figures in a results file, which says in its own lines how they
// were measured.
func Calibrate(path string, data []byte) (*Model, error) {
	all := read(path, data)
	var missing []string
	get := func(name, unit string) float64 {
		v, ok := all[[2]string{name, unit}]
		if !ok {
			missing = append(missing, name+" "+unit)
		}
		return v
	}
	m := &Model{Machine: Machine{
		Own:   get("Cost/of=line", "add-ns"),
		Move:  get("Cost/of=handover-2", "ns/op"),
		Crowd: 2 * get("Group/workload=uneven/impl=ref-floor-2", "ns/op") / get("Group/workload=uneven/impl=ref-floor", "ns/op"),
		Wake:  get("Cost/of=wake-2", "wake-ns"),
		Yield: get("Task/workload=yield/impl=ref-goroutines", "ns/op"),
	}}
	kind := func(name, bench string) Kind {
		return Kind{Name: name, Bench: bench, One: get(bench, "ns/op"), Two: get(bench+"-2", "ns/op")}
	}
	pairsKind := kind("pairs", "Actor/workload=pairs/impl=workstealing")
	fibKind := kind("fork-join", "Task/workload=fib/impl=workstealing")
	unevenKind := kind("uneven batch", "Group/workload=uneven/impl=workstealing")
	outsideKind := kind("from outside", "Task/workload=spawnawait/from=outside/impl=workstealing")
	faninKind := kind("fan-in", "Actor/workload=fanin/impl=workstealing")
	trivial := get("Group/workload=short/failfast=off/impl=workstealing", "ns/op")
	if len(missing) > 0 {
		sort.Strings(missing)
		return nil, fmt.Errorf("%s lacks %q", path, missing)
	}
	m.fit(&pairsKind, func(ns float64) load { return &pairs{count: 1000, stretches: 400, hop: ns} })
	m.fit(&fibKind, func(ns float64) load { return &fib{n: 22, call: ns} })
	// All that a trivial task costs is taken for its submitter's, which is the most that can be.
	m.fit(&unevenKind, func(ns float64) load {
		return &outside{jobs: 16 * 1024, most: 1, produce: min(trivial, ns/2), cost: uneven(max(ns-trivial, ns/2))}
	})
	m.divide(&outsideKind, func(produce, run float64) load {
		return &outside{jobs: 100_000, produce: produce, cost: []float64{run}}
	})
	m.fit(&faninKind, func(ns float64) load { return &fanin{senders: 256, messages: 100_000, cost: ns / 2} })
	m.Kinds = []Kind{pairsKind, fibKind, unevenKind, outsideKind, faninKind}
	return m, nil
}

// PerOp is a forecast: the nanoseconds an operation takes on so many processors, and the
// shares of the processors' time, which add up to 1.
func (m *Model) PerOp(k Kind, d Design, processors int) (ns float64, shares Shares) {
	l := k.make()
	took, spent := run(m.Machine, d, l, processors, 1)
	sum := 0.0
	for _, v := range spent {
		sum += v
	}
	for i := range spent {
		shares[i] = spent[i] / sum
	}
	return took / float64(k.ops), shares
}

// fit finds the cost of a job with which one processor takes as long as was measured. There
// the time is a constant and a multiple of the cost.
func (m *Model) fit(k *Kind, of func(ns float64) load) {
	k.make = func() load { return of(k.One) }
	k.ops = k.make().ops()
	most, _ := m.PerOp(*k, Design{}, 1)
	k.make = func() load { return of(k.One / 2) }
	half, _ := m.PerOp(*k, Design{}, 1)
	ns := k.One - (most-k.One)/(most-half)*k.One/2
	k.make = func() load { return of(ns) }
}

// divide finds the two parts of an operation with which one processor and two take as long as
// was measured, or as nearly as can be.
func (m *Model) divide(k *Kind, of func(first, second float64) load) {
	k.Fitted = true
	best, least := 0.0, math.Inf(1)
	with := func(part float64) {
		m.fit(k, func(ns float64) load { return of(part*ns, (1-part)*ns) })
	}
	for part := 0.1; part < 0.95; part += 0.1 {
		with(part)
		two, _ := m.PerOp(*k, Design{}, 2)
		if off := math.Abs(two - k.Two); off < least {
			best, least = part, off
		}
	}
	with(best)
}
