//go:build tinygo

// Package board is QEMU's virt machine with one 32-bit RISC-V core, which no
// hardware is needed for. Its own linker script (memory.ld) gives it 2 MiB, which
// program and data share.
//
// It is meant to be run with -icount shift=6,sleep=off: then an instruction takes
// 64 ns of emulated time, always, and waiting takes none of the host's; so a run takes
// as long as every other run of the same image, and its clock counts instructions.
// Emulated time is no time: caches, flash wait states and buses are not emulated, so the
// figures compare with those of the same emulator and with nothing else.
package board

import (
	"device/riscv"
	"math"
	"runtime/interrupt"
	"runtime/volatile"
	"unsafe"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board.
func Board() firmware.Board {
	uartFIFO.Set(1)
	return firmware.Board{
		Name:     "rv32-qemu",
		Chip:     "virt",
		RAM:      2 << 20,
		Flash:    2 << 20,
		Emulated: true,
		Port:     port{},
		Clock:    clock{},
		Align:    align,
		Exit:     exit,
		Platform: conformance.Platform{},
	}
}

// The UART is a 16550. QEMU neither needs a baud rate nor waits for one.
var (
	uartData = (*volatile.Register8)(unsafe.Pointer(uintptr(0x1000_0000)))
	uartFIFO = (*volatile.Register8)(unsafe.Pointer(uintptr(0x1000_0002)))
	uartLine = (*volatile.Register8)(unsafe.Pointer(uintptr(0x1000_0005)))
)

const (
	uartRxReady = 1 << 0
	uartTxEmpty = 1 << 5
)

type port struct{}

func (port) Poll() (b byte, ok bool) {
	if uartLine.Get()&uartRxReady == 0 {
		return 0, false
	}
	return uartData.Get(), true
}

// Closed is false: that the host has closed its end is not told by a serial line.
func (port) Closed() bool { return false }

func (port) Write(p []byte) {
	for _, b := range p {
		for uartLine.Get()&uartTxEmpty == 0 {
		}
		uartData.Set(b)
	}
}

const insnNs = 64 // -icount shift=6

// clock counts instructions, exactly. With -icount QEMU's counter of cycles is one of
// the nanoseconds of emulated time: it grows by insnNs with each instruction, and goes
// on while the core waits. The machine timer, by which TinyGo tells the time, has ticks
// of 100 ns, which are 1.56 instructions.
type clock struct{}

func (clock) Now() int64 {
	for {
		high := riscv.CYCLEH.Get()
		low := riscv.CYCLE.Get()
		if high == riscv.CYCLEH.Get() { // else low has run over meanwhile
			return int64(uint64(high)<<32|uint64(low)) / insnNs
		}
	}
}

func (clock) Hz() float64  { return 1e9 / insnNs }
func (clock) Unit() string { return "insns" }

// The machine timer, and when core 0 is interrupted by it: never, but while TinyGo's
// scheduler sleeps, which sets it anew each time.
var (
	timerLow  = (*volatile.Register32)(unsafe.Pointer(uintptr(0x0200_bff8)))
	timerHigh = (*volatile.Register32)(unsafe.Pointer(uintptr(0x0200_bffc)))
	alarm     = (*volatile.Register64)(unsafe.Pointer(uintptr(0x0200_4000)))
)

// period is that of align in ticks of the timer, of 100 ns: 107 seconds, so that the
// next multiple is the first, as a rule, and a whole number of instructions.
const period = 1 << 30

// align waits until the timer is at a multiple of period. The emulator passes over the
// time that a core waits. The core wakes by an alarm that is not taken as an interrupt.
func align() {
	state := interrupt.Disable()
	next := (timer()/period + 1) * period
	for alarm.Set(next); timer() < next; {
		riscv.Asm("wfi")
	}
	alarm.Set(math.MaxUint64)
	interrupt.Restore(state)
}

func timer() uint64 {
	for {
		high := timerHigh.Get()
		low := timerLow.Get()
		if high == timerHigh.Get() {
			return uint64(high)<<32 | uint64(low)
		}
	}
}

// testDevice ends the emulator.
var testDevice = (*volatile.Register32)(unsafe.Pointer(uintptr(0x0010_0000)))

// exit ends the emulator with an exit code from 0 to 255.
func exit(code int) {
	if code == 0 {
		testDevice.Set(0x5555)
	} else {
		testDevice.Set(uint32(code)<<16 | 0x3333)
	}
	for {
	}
}
