package hw

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dynolab/dyno/internal/filelock"
)

// lockDevice keeps other runs away from a board with a serial port until the file is
// closed. The system's own lock on a port is none for root, and is off each time that the
// port is closed: between two cases, and while the board is flashed. Two runs would
// then flash the board while the other measures, and each take its lines for a crash.
// dir is where the locks are. The file is nil where there are no locks.
func lockDevice(dir string, d Device) (*os.File, error) {
	e := d.Entry
	what := e.Port
	if e.USBSerial != "" {
		what = e.USBSerial // as find does it
	} else if what == "" {
		what = "board " + d.Board.Name
	}
	sum := sha256.Sum256([]byte(what))
	path := filepath.Join(dir, "benchrun-board-"+hex.EncodeToString(sum[:6])+".lock")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644)
	}
	if err != nil {
		return nil, nil // unknown: it is as if there were no locks
	}
	switch filelock.Try(f) {
	case filelock.Taken:
		return f, nil
	case filelock.Held:
		f.Close()
		return nil, failedBut(NoConsole, "another benchrun works with the board "+e.ID, "wait for it to end, or end it")
	}
	f.Close()
	return nil, nil
}
