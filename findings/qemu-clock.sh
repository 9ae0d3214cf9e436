#!/usr/bin/env bash
# Guess:   a board that QEMU emulates with -icount, whose time goes by its instructions, has that same time
#          from its timers and from semihosting's SYS_CLOCK, "centiseconds since the execution started".
# Version: QEMU 7.2 (Debian qemu-system-arm).
# Seen:    SYS_CLOCK is the processor time of QEMU. A loop of 2.4 million instructions of 512 ns is 123
#          centiseconds by the board's timer, and a few by SYS_CLOCK, how many depends on the host.
. "$(dirname "$0")/lib.sh"
need qemu-system-arm "version 7.2" qemu-system-arm
# run MOVE tells the exit status of a Cortex-M3 program, which is centiseconds (by the timer: 1/95 s).
run() {
	# Initial stack pointer, reset vector; the timer counts down at 25 MHz from 0xffffffff; SYS_CLOCK;
	# subtract 1 from 1,200,000 until it is 0; SYS_CLOCK; ticks >> 18; MOVE; SYS_EXIT_EXTENDED.
	for word in 8000 2000 0009 0000 \
		2601 07b6 2700 43ff 60b7 6077 2001 6030 2010 2100 beab 4604 \
		4a09 3a01 d1fd 2010 2100 beab 1b05 6873 1afb 0c9b "$1" \
		b082 4804 9000 9501 2020 4669 beab e7fe bf00 4f80 0012 0026 0002; do
		printf '%b' "\\x${word:2}\\x${word:0:2}"
	done >program
	code=0
	timeout 60 qemu-system-arm -M mps2-an385 -display none -monitor none -serial none -icount shift=9,sleep=off \
		-semihosting -device loader,file=program,addr=0,force-raw=on || code=$?
	echo "$code"
}
echo "timer: $(run 461d)" >got # move r3 to r5
echo "SYS_CLOCK below 60: $(($(run bf00) < 60))" >>got
same <<'E'
timer: 117
SYS_CLOCK below 60: 1
E
