package compare

import "time"

// Findings begin what is derived from results by the same reader and the same judgement
// as every report.
type Findings struct {
	Schema string `json:"schema"`

	// Files are the results it was computed from, without their folders, and
	// Measured when the latest of them was begun, in UTC.
	Files    []string  `json:"files"`
	Measured time.Time `json:"measured"`

	// Circumstances are the configuration lines of the files, by key. A key of
	// which the files have several values has them all, joined by "; ".
	Circumstances map[string]string `json:"circumstances"`

	Alpha  float64 `json:"alpha"`  // level of each test; intervals have confidence 1-Alpha
	Margin float64 `json:"margin"` // a difference below it is none, as a part: 0.02
}

// Faults are what of the files could not be used: Problems are lines that could not be read,
// each "file:line: what", and Holes measurements that were due and failed.
type Faults struct {
	Problems []string `json:"problems,omitempty"`
	Holes    []string `json:"holes,omitempty"`
}

// A Calibration is what a machine has shown of our verdicts where the truth is
// known: programs that are the same (A/A), and programs slowed on purpose by a
// known part. docs/calibration.md tells how it comes about.
type Calibration struct {
	Findings

	// Trials is the number of trials that gave a comparison. Each trial is like
	// one report: Blocks blocks of Rounds rounds, of processes of its own; Layouts
	// is the number of code layouts that its blocks take turns in. If trials
	// differ, these are the largest.
	Trials  int `json:"trials"`
	Blocks  int `json:"blocks"`
	Rounds  int `json:"rounds"`
	Layouts int `json:"layouts"`

	CalibratedRates
	Ways       []CalibratedWay       `json:"ways"`       // by how benchmarks are driven
	Benchmarks []CalibratedBenchmark `json:"benchmarks"` // in the plan's order, those of a way together
	Effects    []CalibratedEffect    `json:"effects"`    // over all benchmarks, smallest first

	// Habits are what others' procedures say of the same data.
	Habits []Habit `json:"habits"`

	Faults
}

// CalibratedRates are how often verdicts were right, and wrong.
type CalibratedRates struct {
	// Alarms counts the A/A comparisons whose p-value is at most Alpha: false
	// alarms, of which Alpha is the promised share. Wrong counts those whose
	// verdict, in a report of the whole trial, is that one is faster.
	Alarms Rate `json:"alarms"`
	Wrong  Rate `json:"wrong"`

	// Covered counts the comparisons with a slowed program whose interval has
	// the true ratio. 1 - Alpha is the promised share.
	Covered Rate `json:"covered"`
}

// A CalibratedWay is what a calibration says of all benchmarks that are driven in
// one way: some see less than others, which figures of all together do not tell.
type CalibratedWay struct {
	Driven string `json:"driven"` // "session", "loop", "runN"; "" if the file does not say
	CalibratedRates
	Effects []CalibratedEffect `json:"effects"`
}

// A CalibratedBenchmark is what a calibration says of one benchmark.
type CalibratedBenchmark struct {
	Pkg  string `json:"pkg"`  // "" if the file does not say
	Name string `json:"name"` // with the suffix that tells GOMAXPROCS
	CalibratedWay
	Spread float64 `json:"spread"` // standard deviation of the blocks' log ratios, A/A, if they were normal: the median over trials
	// Detectable is the smallest slow-down that a trial finds in nine cases of
	// ten if nothing else is compared, as a part (0.01 is 1 %): the median over its
	// comparisons; 0 if unknown.
	Detectable float64 `json:"detectable"`
	Seconds    float64 `json:"seconds"` // measured time of a pair in a trial, the mean
}

// A CalibratedEffect is what a calibration says of one injected slow-down.
type CalibratedEffect struct {
	Slow float64 `json:"slow"` // the injected part: 0.02 is 2 %

	// Found counts the comparisons that found it: p at most Alpha, and the right
	// way round. Called counts those with the verdict "slower" in a report of the
	// whole trial, Denied those with one that is wrong: that it is faster, or,
	// if Slow is not below Margin, that it is the same.
	Found  Rate `json:"found"`
	Called Rate `json:"called"`
	Denied Rate `json:"denied"`

	Covered Rate    `json:"covered"` // intervals that have 1 + Slow
	Ratio   float64 `json:"ratio"`   // median of the estimates
	Seconds float64 `json:"seconds"` // measured time of a pair in a trial, the mean
}

// A Rate is how often something was so.
type Rate struct {
	K int `json:"k"` // times it was so
	N int `json:"n"` // of so many

	// Lo and Hi bound the probability with 95 % confidence (Clopper and Pearson);
	// 0 and 1 if N is 0.
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Part is K/N, NaN if N is 0.
func (r Rate) Part() float64 { return float64(r.K) / float64(r.N) }

// A Habit is another procedure, applied to a calibration's data: all of it use the
// test that benchstat does, Mann and Whitney's of golang.org/x/perf/benchmath,
// on values taken as many people take them.
type Habit struct {
	Name string `json:"name"` // a few words
	Says string `json:"says"` // how its values are taken, a sentence

	Alarms  Rate          `json:"alarms"`  // of A/A comparisons, p ≤ alpha
	Effects []HabitEffect `json:"effects"` // smallest first
}

// A HabitEffect is how often a habit finds an injected slow-down.
type HabitEffect struct {
	Slow  float64 `json:"slow"`
	Found Rate    `json:"found"` // p ≤ alpha, and the right way round
}

// A CalibrationQuote is what a report says of how far its machine's verdicts can
// be trusted.
type CalibrationQuote struct {
	Machine     string
	Path        string // of the calibration
	Calibration *Calibration

	// Driven says how the benchmarks of the files are driven, each way once: what the
	// calibration shows of other ways need not hold for them. Benchmarks that took no
	// turns are not in it.
	Driven []string

	// Stale are the circumstances that were others when the machine was
	// calibrated, each as "key: then → now".
	Stale []string
}
