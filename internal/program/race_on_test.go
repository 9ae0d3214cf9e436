//go:build race

package program

// raceEnabled tells whether these tests have the race detector.
const raceEnabled = true
