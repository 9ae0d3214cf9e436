//go:build tinygo

// Package board is QEMU's lm3s6965evb: a Cortex-M3 with 64 KiB of RAM and
// 256 KiB of flash, which no hardware is needed for.
//
// It is meant to be run with -icount shift=6,sleep=off: then an instruction takes
// 64 ns of emulated time, always, and waiting takes none of the host's; so a run takes
// as long as every other run of the same image, and its clock counts instructions.
// Emulated time is no time: caches, flash wait states and buses are not emulated, so the
// figures compare with those of the same emulator and with nothing else.
package board

import (
	"device/arm"
	"runtime/volatile"
	"unsafe"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board. It starts the
// clock and may be called once.
func Board() firmware.Board {
	start()
	return firmware.Board{
		Name:     "cortex-m3-qemu",
		Chip:     "lm3s6965",
		RAM:      64 << 10,
		Flash:    256 << 10,
		Emulated: true,
		Port:     port{},
		Clock:    clock{},
		Align:    align,
		Exit:     exit,
		Platform: conformance.Platform{},
	}
}

// reg returns the register at addr.
func reg(addr uintptr) *volatile.Register32 {
	return (*volatile.Register32)(unsafe.Pointer(addr))
}

// UART0, a PL011. QEMU neither needs a baud rate nor waits for one.
var (
	uartData  = reg(0x4000_C000)
	uartFlags = reg(0x4000_C018)
	uartLine  = reg(0x4000_C02C)
	uartCtl   = reg(0x4000_C030)
)

const (
	uartRxEmpty = 1 << 4
	uartTxFull  = 1 << 5

	uartFIFO   = 1 << 4 // of uartLine: 16 bytes instead of one
	uart8Bits  = 3 << 5
	uartEnable = 1<<0 | 1<<8 | 1<<9 // with both directions
)

type port struct{}

func (port) Poll() (b byte, ok bool) {
	if uartFlags.Get()&uartRxEmpty != 0 {
		return 0, false
	}
	return byte(uartData.Get()), true
}

// Closed is false: that the host has closed its end is not told by a serial line.
func (port) Closed() bool { return false }

func (port) Write(p []byte) {
	for _, b := range p {
		for uartFlags.Get()&uartTxFull != 0 {
		}
		uartData.Set(uint32(b))
	}
}

// The SysTick timer of the core counts down from its reload value, 24 bits, with
// the clock of the processor. That is the only timer of this machine that says
// where it is; those of the chip do not in QEMU.
var (
	tickCtl     = reg(0xE000_E010)
	tickReload  = reg(0xE000_E014)
	tickCurrent = reg(0xE000_E018)
)

// runClock is the register that divides the 200 MHz of the PLL. After a reset
// it divides by 16, which would make a tick as long as 1.25 instructions.
var runClock = reg(0x400F_E060)

const (
	runDivider  = 0xF << 23
	runDivideBy = (4 - 1) << 23 // 50 MHz, the most that the real chip does

	tickNs = 20
	insnNs = 64 // -icount shift=6

	laps = 1 << 24 // ticks from one interrupt to the next: 335 ms

	tickEnable    = 1 << 0
	tickInterrupt = 1 << 1
	tickProcessor = 1 << 2 // the clock to count with
)

// lap is how often the timer has been around. Only the interrupt writes it.
var lap volatile.Register32

func start() {
	uartLine.Set(uartFIFO | uart8Bits)
	uartCtl.Set(uartEnable)
	runClock.Set(runClock.Get()&^uint32(runDivider) | runDivideBy)
	tickReload.Set(laps - 1)
	tickCurrent.Set(0) // any value: it is set to 0, and begins with the reload value
	tickCtl.Set(tickProcessor | tickInterrupt | tickEnable)
}

//export SysTick_Handler
func tickHandler() { lap.Set(lap.Get() + 1) }

// clock counts instructions. Its figures are right to less than one of them,
// but for the interrupt, some 20 every five million.
type clock struct{}

// Now must not be called with interrupts disabled.
func (clock) Now() int64 {
	for {
		n := lap.Get()
		at := tickCurrent.Get()
		if n != lap.Get() {
			continue
		}
		// The interrupt comes when the timer arrives at 0, so 0 is the beginning
		// of a lap, and what follows it is laps-1.
		ticks := int64(n)*laps + int64((laps-at)%laps)
		return ticks * tickNs / insnNs
	}
}

// aligned is how many laps are between two moments at which a case may begin: 172
// seconds, so that the next one is the first of all, as a rule.
const aligned = 1 << 9

// align waits for the interrupt that begins a lap, and returns the same number of
// instructions after it, always. The emulator passes over the time that a core waits.
func align() {
	next := (lap.Get()/aligned + 1) * aligned
	for lap.Get() < next {
		arm.Asm("wfi")
	}
}

func (clock) Hz() float64  { return 1e9 / insnNs }
func (clock) Unit() string { return "insns" }

// exit ends the emulator. Semihosting knows 0 and 1 only on this processor.
func exit(code int) {
	reason := uintptr(arm.SemihostingApplicationExit)
	if code != 0 {
		reason = arm.SemihostingRunTimeErrorUnknown
	}
	arm.SemihostingCall(arm.SemihostingReportException, reason)
	for { // an emulator without -semihosting
		arm.Asm("wfi")
	}
}
