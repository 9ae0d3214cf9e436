// Package calibrate says what verdicts are worth, from measurements whose truth is
// known: programs that are the same, copies that were slowed by a known part, and
// versions whose difference plain go test was asked for.
//
//   - [Calibrate] plans a calibration (plan.go), and [Read] derives rates of false
//     alarms, of coverage and of detection from its results (read.go, calibrate.go). It
//     also says what simpler habits would have claimed (habits.go).
//   - [Calibrations] finds the calibration that a report can quote (quote.go).
//   - [Pairs] and [OneByOne] plan a truth suite (plan.go), and [ReadTruth] holds
//     verdicts against what it found (truth_read.go, truth.go).
package calibrate
