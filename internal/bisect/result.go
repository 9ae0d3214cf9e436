package bisect

import "time"

// A Result is what a bisection of commits has found. It is plain data.
type Result struct {
	Good End `json:"good"`
	Bad  End `json:"bad"`

	Package   string `json:"package"`
	Benchmark string `json:"benchmark"` // with the suffix that tells GOMAXPROCS
	Unit      string `json:"unit"`

	Outcome Outcome `json:"outcome"`
	Ends    Change  `json:"ends"` // of the bad end against the good one

	// Commits are those between the ends, along first parents; Candidates are the ones of
	// them that change what the benchmark is built of.
	Commits    int `json:"commits"`
	Candidates int `json:"candidates"`

	Culprits []Culprit   `json:"culprits"` // the oldest first
	Suspects []Suspected `json:"suspects"` // of ranges in which no one commit is proven
	Broken   []Broken    `json:"broken"`   // commits that could not be measured

	Comparisons int     `json:"comparisons"` // that of the ends, visits and proofs
	Blocks      int     `json:"blocks"`
	Builds      int     `json:"builds"` // commits that were built, without both ends
	Seconds     float64 `json:"seconds"`

	Alpha  float64  `json:"alpha"`
	Margin float64  `json:"margin"`
	Folder string   `json:"folder"` // with the results and the state
	Notes  []string `json:"notes"`
}

// An Outcome is what a bisection came to, in a word.
type Outcome string

// The outcomes.
const (
	Found  Outcome = "found"  // what differs is commits that are proven to do so
	NoStep Outcome = "same"   // the ends do not differ, which is proven
	Unsure Outcome = "unsure" // neither: the answer is Suspects, or nothing
)

// An End is one of both versions between which was searched.
type End struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

// A Commit is one that changes something, as far as a reader wants to know it.
type Commit struct {
	Hash    string    `json:"commit"`
	Parent  string    `json:"parent"`
	Merge   bool      `json:"merge,omitempty"`
	Author  string    `json:"author"`
	Date    time.Time `json:"date"`
	Subject string    `json:"subject"`
}

// A Change is by how much one version differs from another.
type Change struct {
	Verdict string   `json:"verdict"` // "slower", "worse", "same", …
	Base    float64  `json:"base"`    // what both take, in the unit
	Value   float64  `json:"value"`
	Ratio   *float64 `json:"ratio,omitempty"` // the value over the base, with its bounds
	Lo      *float64 `json:"lo,omitempty"`
	Hi      *float64 `json:"hi,omitempty"`
	P       *float64 `json:"p,omitempty"`
	// Detectable is the smallest ratio above 1 that would have been proven nine times out
	// of ten.
	Detectable *float64 `json:"detectable,omitempty"`
	File       string   `json:"file,omitempty"` // with the blocks, in Result.Folder
}

// A Culprit is a commit that is proven to change the benchmark against its first parent.
type Culprit struct {
	Commit
	Change Change `json:"change"`
}

// Suspected are commits of which one may be the culprit.
type Suspected struct {
	Commits []Commit `json:"commits"`
	// Narrowed says that a search has left them: one of them is it with a probability of 95 %.
	// Otherwise none of a range is ruled out.
	Narrowed bool   `json:"narrowed"`
	Why      string `json:"why"` // no one of them is proven
	// Change is that from before the first to the last of them, if it was proven.
	Change *Change `json:"change,omitempty"`
}

// Broken is a commit that could not be measured.
type Broken struct {
	Commit
	Reason string `json:"reason"` // may have several lines
}
