// Package board is Linux on arm64, emulated by qemu-aarch64. Go's scheduler does not interrupt
// goroutines by signals there: with them one case in ten thousand hung on a busy machine,
// in the runtime, which was stopping the world; without them none of 26,000 did.
package board

import (
	"github.com/dynolab/dyno/hw/boards/internal/linuxboard"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board. It begins to read
// standard input and may be called once.
func Board() firmware.Board { return linuxboard.New("linux-arm64-qemu", true) }
