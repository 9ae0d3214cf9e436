// Package filelock has the locks on files that end with the process that holds
// them: one that is taken says that its owner is still at work.
package filelock

// A State is what came of trying to take a lock.
type State int

const (
	// Unknown means that there are no such locks, on this system or this file
	// system: it is unknown whether another process is at work.
	Unknown State = iota
	// Taken means that the lock is ours.
	Taken
	// Held means that another process has it.
	Held
)
