// Package filelock has the locks on files that end with the process that holds
// them: who finds one taken knows that somebody is still at work.
package filelock

// A State is what came of trying to take a lock.
type State int

const (
	// Unknown means that there are no such locks, on this system or this file
	// system: nobody can tell whether somebody else is at work.
	Unknown State = iota
	// Taken means that the lock is ours.
	Taken
	// Held means that somebody else has it.
	Held
)
