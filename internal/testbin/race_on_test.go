//go:build race

package testbin

// raceEnabled tells whether these tests have the race detector.
const raceEnabled = true
