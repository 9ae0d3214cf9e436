// Package board is Linux on arm, emulated by qemu-arm.
package board

import (
	"github.com/dynolab/dyno/hw/boards/internal/linuxboard"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board. It begins to read
// standard input and may be called once.
func Board() firmware.Board { return linuxboard.New("linux-arm-qemu", true) }
