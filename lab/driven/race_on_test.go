//go:build race

package driven

// raceEnabled tells whether these tests have the race detector.
const raceEnabled = true
