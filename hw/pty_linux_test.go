package hw

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"unsafe"
)

// TestSystemPort speaks through a port of this machine: a terminal's, since there is no
// other in a test.
func TestSystemPort(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this system gives no terminal: %v", err)
	}
	defer master.Close()
	var number, unlock uint32
	for _, call := range []struct {
		request uintptr
		value   *uint32
	}{{syscall.TIOCGPTN, &number}, {syscall.TIOCSPTLCK, &unlock}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), call.request, uintptr(unsafe.Pointer(call.value))); errno != 0 {
			t.Skipf("this system gives no terminal: %v", errno)
		}
	}
	d := picoDevice(Entry{Port: "/dev/pts/" + strconv.Itoa(int(number))})
	target := newTarget(t, d, nil)
	_, err = NewTarget(d, nil)
	wantOutcome(t, err, NoConsole, "another benchrun")
	defer target.Close()
	console, err := target.Attach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 6)
	if _, err := console.Write([]byte("hello\n")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(master, buf); err != nil || string(buf) != "hello\n" {
		t.Errorf("the board gets %q, %v", buf, err)
	}
	if _, err := master.Write([]byte("@1 ab\n")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(console, buf); err != nil || string(buf) != "@1 ab\n" {
		t.Errorf("the host gets %q, %v", buf, err)
	}
	// Closing ends a read that waits.
	ended := make(chan error)
	go func() {
		_, err := console.Read(buf)
		ended <- err
	}()
	if err := console.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("a closed port gives bytes")
	}
	if _, err := (systemPorts{}).List(); err != nil {
		t.Errorf("listing ports: %v", err)
	}
	_, err = systemPorts{}.Open("/dev/null", 115200)
	if err == nil {
		t.Error("/dev/null is no port")
	}
}
