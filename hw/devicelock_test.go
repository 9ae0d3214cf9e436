package hw

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dynolab/dyno/internal/filelock"
)

// TestLockDevice: a board is one program's at a time, and another board is another
// matter.
func TestLockDevice(t *testing.T) {
	dir := t.TempDir()
	probe, err := os.Create(filepath.Join(dir, "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if filelock.Try(probe) != filelock.Taken {
		t.Skip("this system has no locks on files")
	}
	left := picoDevice(Entry{ID: "left", USBSerial: "L"})
	first, err := lockDevice(dir, left)
	if err != nil || first == nil {
		t.Fatalf("%v, %v", first, err)
	}
	_, err = lockDevice(dir, left)
	wantOutcome(t, err, NoConsole, "another benchrun works with the board left", "wait for it")
	for _, other := range []Entry{{ID: "right", USBSerial: "R"}, {ID: "right", Port: "/dev/ttyACM1"}, {}} {
		f, err := lockDevice(dir, picoDevice(other))
		if err != nil || f == nil {
			t.Errorf("%+v: %v, %v", other, f, err)
			continue
		}
		f.Close()
	}
	kind, err := lockDevice(dir, picoDevice(Entry{}))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := lockDevice(dir, Device{Board: Board{Name: "other"}}); err != nil || f == nil {
		t.Errorf("a board of another kind: %v, %v", f, err)
	} else {
		f.Close()
	}
	kind.Close()
	first.Close()
	again, err := lockDevice(dir, left)
	if err != nil || again == nil {
		t.Errorf("when it is free again: %v, %v", again, err)
	}
	again.Close()
	// Without a folder for locks there are none, and boards work all the same.
	if f, err := lockDevice(filepath.Join(dir, "nowhere"), left); f != nil || err != nil {
		t.Errorf("%v, %v", f, err)
	}
}
