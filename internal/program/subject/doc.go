// Package subject makes programs that speak the driving protocol what a session
// measures: a C program's benchmarks are the cases of a plan as those of a Go package are.
//
//  1. [Open] asks a program for its benchmarks (program.go).
//  2. [Programs] are what a session runs a plan on: processes that take turns, or one
//     for each value (subject.go).
//
// It is apart from package program because package session stands between them: a
// session drives processes of package program, whatever they are, and this package
// implements session.Subject.
package subject
