package calibrate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A madeUpProcess is a driven benchmark of a world: it takes no time, and says how
// much it took.
type madeUpProcess struct {
	w     world
	r     *rand.Rand
	perOp float64 // nanoseconds
	ops   int
}

func (p *madeUpProcess) Hello() program.Hello {
	return program.Hello{Mode: program.ModeSession, Unit: 10, Pid: 1}
}

func (p *madeUpProcess) Run(n int) (program.Slice, error) {
	p.ops += n
	ns := float64(n) * p.perOp * math.Exp(p.w.slice*p.r.NormFloat64())
	return program.Slice{N: n, Elapsed: time.Duration(ns)}, nil
}

func (p *madeUpProcess) Call(n int) (program.Slice, error) { return p.Run(n) }
func (p *madeUpProcess) Usage() (program.Usage, error)     { return program.Usage{}, nil }
func (p *madeUpProcess) CountHardware() error              { return errors.New("it has no counters") }
func (p *madeUpProcess) StopCounting() error               { return nil }
func (p *madeUpProcess) Freeze() bool                      { return true }

func (p *madeUpProcess) Reset() error { p.ops = 0; return nil }

func (p *madeUpProcess) Finish() (program.Result, error) {
	// Testing's own mean, which the lab replaces by that of the slices it has measured.
	return program.Result{Line: " 1000\t 77.00 ns/op"}, nil
}

func (p *madeUpProcess) Close() error { return nil }

// A fakeSubject does what its functions do.
type fakeSubject struct {
	measure func(block int, s record.Step) (string, error)
	start   func(block int, s record.Step, env []string) (session.Driver, error)
}

func (m fakeSubject) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	text, err := m.measure(block, s)
	return session.Single(s, block, text, nil, err)
}

func (m fakeSubject) Anchor() string { return "" }

func (m fakeSubject) Start(block int, s record.Step, env []string) (session.Driver, error) {
	return m.start(block, s, env)
}

// A stopping progress ends a run's context when so many blocks are done.
type stopping struct {
	session.Quiet
	after int
	stop  context.CancelFunc
}

func (s stopping) Block(n, _ int) {
	if n == s.after {
		s.stop()
	}
}

// A calibration goes through plan, turns, file, reader and verdicts, and finds what
// a made-up machine is made of. In the middle it is interrupted and resumed.
func TestCalibrationThroughTheLab(t *testing.T) {
	const trials, blocks = 12, 10
	plan := &record.Plan{CPU: []int{2}, Time: "100ms", Seed: 5, Timeout: time.Minute, Rounds: 10, Slice: 5 * time.Millisecond, Layouts: 10, Bench: "."}
	Calibrate(plan, []record.Case{{Pkg: "example.com/m", Name: "BenchmarkPing"}, {Pkg: "example.com/m", Name: "BenchmarkPong"}}, []float64{0.02, 0.1}, blocks, trials)
	if err := plan.Check(); err != nil {
		t.Fatal(err)
	}
	w := world{process: 0.004, slice: 0.01}
	r := rand.New(rand.NewPCG(12, 1))
	moment, last := 0.0, 0
	h := fakeSubject{
		start: func(block int, s record.Step, _ []string) (session.Driver, error) {
			if block != last {
				moment, last = 0.95*moment+0.02*r.NormFloat64(), block
			}
			level := moment + w.process*r.NormFloat64()
			return &madeUpProcess{w: w, r: r, perOp: 100 * math.Exp(level) * (1 + s.Case.Slow)}, nil
		},
		measure: func(int, record.Step) (string, error) {
			t.Error("a calibration measures no process alone")
			return "", errors.New("alone")
		},
	}
	path := filepath.Join(t.TempDir(), CalibrationPrefix+"x.bench")
	store, err := record.Create(path, plan, &record.Circumstances{Machine: "made-up", Fixed: []record.Setting{{Key: "machine", Values: []string{"made-up"}}}}, nil, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err = session.Run(ctx, plan, h, store, nil, stopping{after: 37, stop: cancel}, nil)
	if !errors.Is(err, session.ErrInterrupted) || store.Close() != nil {
		t.Fatal(err)
	}
	if c := calibrateFile(t, path); c.Trials != 4 || c.Blocks != 10 {
		t.Errorf("of 37 blocks: %d trials of up to %d blocks", c.Trials, c.Blocks)
	}
	resume(t, path, h)

	c := calibrateFile(t, path)
	if c.Trials != trials || c.Blocks != blocks || c.Rounds != 10 || c.Layouts != 10 || len(c.Problems)+len(c.Holes) > 0 {
		t.Errorf("%d trials, %d blocks, %d rounds, %d layouts, problems %q, holes %q", c.Trials, c.Blocks, c.Rounds, c.Layouts, c.Problems, c.Holes)
	}
	if c.Alarms.N != 2*trials || !has(c.Alarms, 0.05) || c.Covered.N != 4*trials || !has(c.Covered, 0.95) || c.Wrong.K > 1 {
		t.Errorf("alarms %+v, wrong %+v, covered %+v", c.Alarms, c.Wrong, c.Covered)
	}
	if len(c.Benchmarks) != 2 || c.Benchmarks[0].Name != "Ping-2" || c.Benchmarks[1].Name != "Pong-2" {
		t.Fatalf("%+v", c.Benchmarks)
	}
	for _, b := range c.Benchmarks {
		if len(b.Effects) != 2 || b.Alarms.N != trials {
			t.Fatalf("%+v", b)
		}
		for i, slow := range []float64{0.02, 0.1} {
			e := b.Effects[i]
			if e.Slow != slow || math.Abs(e.Ratio-1-slow) > 0.002 || e.Found.K < trials-1 || math.Abs(e.Seconds-1) > 0.2 {
				t.Errorf("%s: %+v", b.Name, e)
			}
		}
	}
}

func calibrateFile(t *testing.T, path string) *compare.Calibration {
	t.Helper()
	c, err := Read([]string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckCalibration(t *testing.T) {
	for _, c := range []struct {
		slows          []float64
		blocks, trials int
		says           string
	}{
		{[]float64{0.02, 0.05}, 10, 1, ""},
		{[]float64{0.02}, 5, 1, "--blocks"},
		{[]float64{0.02}, 10, 0, "--trials"},
		{nil, 10, 1, "--slow"},
		{[]float64{2}, 10, 1, "--slow 2"},
		{[]float64{0}, 10, 1, "--slow 0"},
		{[]float64{math.NaN()}, 10, 1, "--slow NaN"},
		{[]float64{0.02, 0.05, 0.02}, 10, 1, "twice"},
	} {
		err := CheckCalibration(c.slows, c.blocks, c.trials)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, %d, %d: %v", c.slows, c.blocks, c.trials, err)
		}
	}
}
