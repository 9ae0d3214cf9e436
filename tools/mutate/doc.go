// Package mutate tests the tests: it changes the source of a package in small ways that a
// slip of the hand could have made, and looks whether its tests notice.
//
//  1. [Load] reads packages with their types.
//  2. [Package.Mutants] lists every change that the operators can make, a [Mutant] each.
//     A change that does not compile is none: [Package.Source] says so by type-checking.
//  3. [Order] puts the mutants in an order that depends on a seed alone, of which any
//     beginning is a sample that has of every package its share.
//  4. [Bench] builds hundreds into one program, each a copy of its function that the environment
//     asks for, with go test -overlay, so that no file of the tree is touched. It runs what the
//     author of the package would run, the quick programs first. The first failure kills the
//     mutant. [Overlay] does the same for the bugs that people plant.
//  5. A [File] takes the results, a line each, and what is interrupted goes on there.
//  6. [Evaluate] counts: score = killed ÷ (killed + survived − equivalent), with Wilson's 95 %
//     interval. Which survivors are equivalent to the source, people say, with the reason
//     (the folder equivalent).
//
// It is not a tool for any Go module: the programs that run a mutant are listed in plan.go,
// and the operators are those that matter to code made of atomics, locks and wake-ups.
//
// Existing tools were looked at. gremlins copies the module for every worker, knows tokens
// but no types, and has no operator that removes or swaps statements; go-mutesting removes
// statements, writes over files, and has had no release in years; ooze gives an operator one
// syntax node without types. None knows that a call is an atomic or a wake-up, runs several
// programs for one package, draws a sample, or goes on where it was stopped, and these are
// most of what is here; the rest is go/ast and go/types.
package mutate
