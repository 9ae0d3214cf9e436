//go:build race

package conformtest

const raceEnabled = true
