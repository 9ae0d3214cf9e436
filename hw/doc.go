// Package hw measures on boards: it builds the firmware for a board, brings it
// there, runs it, and reads back what it says. Microcontrollers run it through
// TinyGo, Linux boards by Go's own cross-compilation; either kind is a real one or
// an emulator on this machine. hw knows no board and no implementation: a board is
// a folder of hw/boards, an implementation one of impls.
//
// A run goes through these steps, each with a file of its own:
//
//  1. A [Registry] has the boards, which are data (board.go). A [Map] says which of
//     them are connected, and where (hwmap.go).
//  2. [FindCompiler] and [Missing] look for what a board needs on this machine: TinyGo
//     and a Go that it takes, an emulator, ssh (tools.go).
//  3. [Build] makes an [Image] of one board, one implementation and the parts that
//     are wanted: a module of its own with a copy of the sources (sources.go,
//     build.go). What is larger than the board is no image, and the [Sizes] say
//     which package has how much of it (sizes.go).
//  4. A [Target] takes the image: an emulator at each start, a Linux board by ssh, a
//     microcontroller by TinyGo's flasher, after which its port vanishes and comes
//     back, perhaps under another name (target.go, ports.go).
//  5. A [Session] speaks with the firmware: numbered lines with a checksum, commands
//     that are echoed, and limits on how long the board may be silent (session.go).
//  6. [Run] does all that for boards and implementations (run.go): the board's cases
//     become a plan (plan.go), and the board is the subject of a session, which has it run
//     each case after a reset (subject.go). What the file of a run says of its cases is
//     read back to go on with it (kept.go).
//
// What goes wrong on the way is an [Error] with an [Outcome], which tells a missing
// toolchain from a board that hangs, has an exit status and says what to do.
//
// The package prints nothing: who wants to know how far a run is gives it a
// [Progress].
package hw
