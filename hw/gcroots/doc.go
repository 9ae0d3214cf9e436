// Package gcroots shows TinyGo's collector what a processor has in its registers. It is
// part of every firmware that TinyGo makes; it exports nothing, and is empty for other
// compilers.
//
// TinyGo 0.41 loses objects of which only a register knows. When memory runs short
// within an allocation, its collector first pushes the registers that functions
// preserve on the stack (tinygo_scanCurrentStack), notes that the goroutine's stack is
// to be looked through, and pops them again; it looks through the stack afterwards,
// when other calls have written over the place. A register that none of the
// functions in between saves on its own account, because none of them uses it, is then
// not seen, and the object's memory is given out again. With optimization for
// size, TinyGo's default, that is true of r10 and r11 of a Cortex-M and s9 to s11 of
// a RISC-V.
//
// So the linker is told to call a function of this package in its place
// (--wrap=tinygo_scanCurrentStack, see hw), which writes the registers to a variable
// first. Variables are looked through after that and before anything is freed. It
// costs some ten instructions a collection. Where the collector does its work as it
// says, the variable holds what the stack does, and changes nothing.
package gcroots
