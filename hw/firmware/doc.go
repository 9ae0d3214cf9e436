// Package firmware is the program that every board runs: it says who the board is,
// lists cases and runs those it is asked for, and reports in Go's benchmark format.
//
// A board gives a [Board] – a port to the host, a clock, what else it can do – and
// an image is one board, one implementation and some parts:
//
//	func main() {
//		firmware.Main(cortexm3qemu.Board(), serial.Impl, firmware.Build{Commit: commit, Toolchain: toolchain},
//			bench.Cases(serial.Impl), conform.Cases(serial.Impl))
//	}
//
// What happens then:
//
//  1. The board says hello, unasked.
//  2. It reads commands from its port, one a line: hello, list, run <case>, reset,
//     quit. Package line has the protocol.
//  3. A case is run on the goroutine that has read the command: prepared, run,
//     checked, closed. A case that fails, or panics where the platform can recover
//     from that, has no result and a reason, and the next command is read.
//  4. The end of the program is the emulator's or process's; a board reads on.
//
// It is not where anything is decided: which cases are run, how often, how long one
// may take, and what their figures mean is for the host. A case that hangs keeps the
// board until the host resets it.
//
// Package firmware knows neither workloads nor clauses, which come as [Cases] from
// the packages below it, so that an image carries only what it names. All of it is
// board-safe, and one goroutine's: nothing here is started for a command or a case.
package firmware
