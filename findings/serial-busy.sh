#!/usr/bin/env bash
# Guess:   a serial port that is open is busy for a second Open: PortBusy.
# Version: go.bug.st/serial v1.8.0.
# Seen:    it asks the kernel for that (TIOCEXCL), and the kernel lets root in all the same. In a
#          container, where programs run as root, two open one board, and each has a part of what it says.
. "$(dirname "$0")/lib.sh"
modules go.bug.st/serial@v1.8.0 golang.org/x/sys@v0.49.0
[ -e /dev/ptmx ] || skip "there is no /dev/ptmx"
cat >main.go <<'E'
package main

import (
	"fmt"
	"os"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"
)

func main() {
	end, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		panic(err)
	}
	n, _ := unix.IoctlGetInt(int(end.Fd()), unix.TIOCGPTN)
	_ = unix.IoctlSetPointerInt(int(end.Fd()), unix.TIOCSPTLCK, 0)
	for range 2 {
		_, err := serial.Open(fmt.Sprint("/dev/pts/", n), &serial.Mode{BaudRate: 115200})
		fmt.Println("open:", err)
	}
}
E
[ "$(id -u)" = 0 ] || skip "only root is let in"
go run . >got
same <<'E'
open: <nil>
open: <nil>
E
