package hw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.bug.st/serial"
)

// fakePorts are the ports of a machine in a test: boards come and go.
type fakePorts struct {
	mu     sync.Mutex
	ports  []Port
	boards map[string]*fakeUSBBoard // by path
	baud   int
	blind  int // so many times they cannot be listed
}

func (f *fakePorts) List() ([]Port, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blind > 0 {
		f.blind--
		return nil, errors.New("a device has gone while it was looked at")
	}
	return append([]Port(nil), f.ports...), nil
}

func (f *fakePorts) Open(path string, baud int) (Wire, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.baud = baud
	b := f.boards[path]
	if b == nil {
		return nil, errors.New("no such device")
	}
	if b.busy {
		return nil, errors.New("serial port busy")
	}
	return b.open(), nil
}

// plug makes a board appear.
func (f *fakePorts) plug(p Port, b *fakeUSBBoard) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.boards == nil {
		f.boards = make(map[string]*fakeUSBBoard)
	}
	f.ports = append(f.ports, p)
	f.boards[p.Path] = b
}

// unplug makes a board vanish.
func (f *fakePorts) unplug(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, p := range f.ports {
		if p.Path == path {
			f.ports = append(f.ports[:i:i], f.ports[i+1:]...)
			break
		}
	}
	b := f.boards[path]
	delete(f.boards, path)
	if b != nil && b.wire != nil {
		b.wire.board.CloseWithError(errors.New("device gone"))
	}
}

// A fakeUSBBoard is a board at a port. reset is what it does when it is told to; pulse
// when its reset line is held. Both get the end of the line at which they print. If
// stuck is not nil, it takes nothing of what it is told until that is closed.
type fakeUSBBoard struct {
	busy         bool
	stuck        chan struct{}
	refuses      error // what writing fails with, if that is not nil
	reset, pulse func(out io.Writer)
	wire         *fakeWire
}

type fakeWire struct {
	*io.PipeReader                // the host's end
	board          *io.PipeWriter // the board's
	of             *fakeUSBBoard
	got            strings.Builder
}

func (b *fakeUSBBoard) open() *fakeWire {
	r, w := io.Pipe()
	b.wire = &fakeWire{PipeReader: r, board: w, of: b}
	return b.wire
}

func (w *fakeWire) Write(p []byte) (int, error) {
	if w.of.refuses != nil {
		return 0, w.of.refuses
	}
	if w.of.stuck != nil {
		return len(p), nil // the system keeps it for the board
	}
	w.got.Write(p)
	if strings.HasSuffix(w.got.String(), "\nreset\n") && w.of.reset != nil {
		go w.of.reset(w.board)
	}
	return len(p), nil
}

func (w *fakeWire) Drain() error {
	if w.of.stuck != nil {
		<-w.of.stuck
	}
	return nil
}

func (w *fakeWire) Pulse() error {
	if w.of.pulse == nil {
		return errors.New("no such lines")
	}
	go w.of.pulse(w.board)
	return nil
}

// printer returns a function that prints lines, after some time.
func printer(after time.Duration, lines ...string) func(io.Writer) {
	return func(out io.Writer) {
		time.Sleep(after) // of synctest: it takes no time
		for _, text := range lines {
			_, _ = io.WriteString(out, framed(text))
		}
	}
}

var picoID = USBID{"2e8a", "000a"}

func picoDevice(e Entry) Device {
	e.Board = "pico"
	if e.ID == "" {
		e.ID = "pico"
	}
	return Device{Board: Board{Name: "pico", Kind: kindTinyGo, Target: "pico", USB: []USBID{picoID}, FlashNeeds: "hold the button"}, Entry: e}
}

// TestStartUART: a board behind a converter begins anew on the same port.
func TestStartUART(t *testing.T) {
	for name, b := range map[string]*fakeUSBBoard{
		"command": {reset: printer(time.Second, "@9 ~ begin reset", "@10 ~ end reset ok", "boot", "@1 ~ hello dyno-firmware/1")},
		// The firmware hangs and takes no command: the line does it.
		"line": {pulse: printer(time.Second, "boot", "@1 ~ hello dyno-firmware/1")},
	} {
		synctest.Test(t, func(t *testing.T) {
			ports := new(fakePorts)
			ports.plug(Port{Path: "/dev/ttyUSB0"}, b)
			target := newTarget(t, picoDevice(Entry{Port: "/dev/ttyUSB0"}), ports)
			console, err := target.Start(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if console != Wire(b.wire) || ports.baud != 115200 {
				t.Errorf("%s: another console, or %d baud", name, ports.baud)
			}
			console.Close()
		})
	}
}

// TestStartUSB: a board that makes its port itself vanishes when it is reset, and comes
// back under another name. It is found by its serial number, although one of its kind
// is beside it.
func TestStartUSB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ports := new(fakePorts)
		left, right := &fakeUSBBoard{}, &fakeUSBBoard{}
		ports.plug(Port{Path: "/dev/ttyACM0", USB: picoID, Serial: "RIGHT"}, right)
		ports.plug(Port{Path: "/dev/ttyACM1", USB: picoID, Serial: "LEFT"}, left)
		again := &fakeUSBBoard{}
		left.reset = func(io.Writer) {
			ports.unplug("/dev/ttyACM1")
			time.Sleep(3 * time.Second)
			ports.plug(Port{Path: "/dev/ttyACM2", USB: picoID, Serial: "LEFT"}, again)
		}
		target := newTarget(t, picoDevice(Entry{ID: "left", USBSerial: "left"}), ports)
		target.(*serialTarget).deaf = true // until its button was pressed
		console, err := target.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if console != Wire(again.wire) || right.wire != nil {
			t.Error("another board was spoken to")
		}
		if target.(*serialTarget).deaf {
			t.Error("it is still taken for deaf")
		}
		console.Close()
	})
}

// TestStartFails: a board that is not there, is busy, or does nothing, is told apart, in
// bounded time.
func TestStartFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		entry Entry
		board *fakeUSBBoard
		want  string
	}{
		{"nothing there", Entry{Port: "/dev/ttyACM9"}, nil, "there is no port /dev/ttyACM9"},
		{"no such number", Entry{USBSerial: "X"}, &fakeUSBBoard{}, "there is no port with the USB serial number X"},
		{"busy", Entry{}, &fakeUSBBoard{busy: true}, "opening /dev/ttyACM0: serial port busy"},
		{"deaf", Entry{}, &fakeUSBBoard{}, "does not begin anew"},
		{"deaf to its lines too", Entry{}, &fakeUSBBoard{pulse: printer(0, "noise", "@7 ~ note")}, "does not begin anew"},
		{"gone for ever", Entry{}, &fakeUSBBoard{reset: func(out io.Writer) { out.(*io.PipeWriter).Close() }}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			ports := new(fakePorts)
			if tt.board != nil {
				ports.plug(Port{Path: "/dev/ttyACM0", USB: picoID, Serial: "A"}, tt.board)
			}
			if tt.name == "gone for ever" {
				tt.board.reset = func(io.Writer) { ports.unplug("/dev/ttyACM0") }
				tt.want = "there is no port with the USB ID 2e8a:000a"
			}
			target := newTarget(t, picoDevice(tt.entry), ports)
			begun := time.Now()
			_, err := target.Start(t.Context())
			wantOutcome(t, err, NoConsole, tt.want)
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("%s: took %v", tt.name, took)
			}
		})
	}
}

// TestStartHangs: a board that hangs takes no command, and one that makes its port itself
// has no reset line: flashing it anew resets it, and the run goes on. If that does not
// help either it is not tried for each case anew, until the button has been pressed.
func TestStartHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ports := new(fakePorts)
		pico := Port{Path: "/dev/ttyACM0", USB: picoID, Serial: "A"}
		ports.plug(pico, &fakeUSBBoard{})
		im := new(Image)
		flashed, fails := 0, false
		var again *fakeUSBBoard
		target := &serialTarget{device: picoDevice(Entry{}), ports: ports, run: func(_ context.Context, got *Image, _ []string) (string, error) {
			flashed++
			if got != im {
				t.Error("another image is flashed")
			}
			if ports.boards[pico.Path].wire != nil {
				if _, err := ports.boards[pico.Path].wire.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
					t.Error("the port is open while TinyGo needs it")
				}
			}
			if fails {
				return "error: failed to flash: unable to locate any volume: [RPI-RP2]", errors.New("exit status 1")
			}
			ports.unplug(pico.Path)
			again = &fakeUSBBoard{}
			time.AfterFunc(3*time.Second, func() { ports.plug(pico, again) })
			return "", nil
		}}
		start := func() (Wire, error) {
			console, err := target.Start(t.Context())
			if err != nil {
				return nil, err
			}
			console.Close()
			return console.(Wire), nil
		}
		_, err := start()
		wantOutcome(t, err, NoConsole, "does not begin anew")
		if flashed != 0 {
			t.Error("a board is flashed that was not flashed before")
		}
		if err := target.Flash(t.Context(), im); err != nil {
			t.Fatal(err)
		}
		if w, err := start(); err != nil || w != Wire(again.wire) || flashed != 2 {
			t.Fatalf("%v after it was flashed %d times, want twice, and the console of the board that came back", err, flashed)
		}
		fails = true
		_, err = start()
		wantOutcome(t, err, NoConsole, "cannot be flashed anew", "unable to locate any volume", "hold the button")
		_, err = start()
		wantOutcome(t, err, NoConsole, "does not begin anew")
		if flashed != 3 {
			t.Errorf("flashed %d times, want 3: once in vain is enough", flashed)
		}
		// The button is pressed, and later it hangs once more.
		ports.boards[pico.Path].reset = printer(time.Second, "@1 ~ hello dyno-firmware/1")
		if _, err := start(); err != nil {
			t.Fatal(err)
		}
		ports.boards[pico.Path].reset, fails = nil, false
		if _, err := start(); err != nil || flashed != 4 {
			t.Errorf("%v after it was flashed %d times, want 4", err, flashed)
		}
	})
}

// TestStartInterrupted: waiting for a board ends with the context.
func TestStartInterrupted(t *testing.T) {
	for name, board := range map[string]*fakeUSBBoard{"no port": nil, "deaf": {}} {
		synctest.Test(t, func(t *testing.T) {
			ports := new(fakePorts)
			if board != nil {
				ports.plug(Port{Path: "/dev/ttyACM0", USB: picoID}, board)
			}
			target := newTarget(t, picoDevice(Entry{}), ports)
			stop := errors.New("stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(stop) })
			begun := time.Now()
			if _, err := target.Start(ctx); !errors.Is(err, stop) || time.Since(begun) > 2*time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(begun))
			}
		})
	}
}

// TestStartStuck: a board that hangs so that it takes no bytes at all keeps no caller
// waiting: its line resets it, or it is given up.
func TestStartStuck(t *testing.T) {
	for name, pulse := range map[string]func(io.Writer){
		"reset by its line": printer(time.Second, "@1 ~ hello dyno-firmware/1"),
		"for ever":          nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &fakeUSBBoard{stuck: make(chan struct{}), pulse: pulse}
			defer close(b.stuck)
			ports := new(fakePorts)
			ports.plug(Port{Path: "/dev/ttyACM0", USB: picoID}, b)
			target := newTarget(t, picoDevice(Entry{}), ports)
			// Were it waited for, nothing here would ever end that: so this is told as
			// a failure and not as a test that goes on for ever.
			timer := time.AfterFunc(time.Minute, func() { t.Errorf("%s: it still waits", name); b.stuck <- struct{}{} })
			defer timer.Stop()
			console, err := target.Start(t.Context())
			if pulse == nil {
				wantOutcome(t, err, NoConsole, "does not begin anew")
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			console.Close()
		})
	}
}

// TestStartRefused: a port that takes nothing is one of a board that has gone, which may
// come back, and is opened anew at once.
func TestStartRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeUSBBoard{refuses: errors.New("input/output error")}
		ports := new(fakePorts)
		ports.plug(Port{Path: "/dev/ttyACM0", USB: picoID}, b)
		target := newTarget(t, picoDevice(Entry{}), ports)
		begun := time.Now()
		console, err := target.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %v", took)
		}
		console.Close()
	})
}

// TestAwaitListing: that ports cannot be listed for a moment, as may be when one of them
// vanishes, is no reason to give up; if it lasts, it is the reason.
func TestAwaitListing(t *testing.T) {
	for blind, want := range map[int]string{3: "", 1 << 30: "a device has gone"} {
		synctest.Test(t, func(t *testing.T) {
			ports := &fakePorts{blind: blind}
			ports.plug(Port{Path: "/dev/ttyACM0", USB: picoID}, &fakeUSBBoard{})
			w, err := await(t.Context(), ports, picoDevice(Entry{}), 10*time.Second)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%d times: %v, want %q", blind, err, want)
			}
			if err == nil {
				w.Close()
			}
		})
	}
}

// resetLines are the lines of a port that was opened.
type resetLines struct {
	serial.Port
	dtr, rts bool
	seen     []string
}

func (l *resetLines) SetDTR(on bool) error { l.dtr = on; return l.see() }
func (l *resetLines) SetRTS(on bool) error { l.rts = on; return l.see() }

func (l *resetLines) see() error {
	now := fmt.Sprintf("DTR %t RTS %t", l.dtr, l.rts)
	if n := len(l.seen); n == 0 || l.seen[n-1] != now {
		l.seen = append(l.seen, now)
	}
	return nil
}

// TestPulse: the lines reset a board, and never ask it for its boot loader, which high
// DTR with low RTS does; some keep that in mind for the next reset.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := &resetLines{dtr: true, rts: true} // as systems open a port
		if err := (wire{lines}).Pulse(); err != nil {
			t.Fatal(err)
		}
		if want := []string{"DTR false RTS true", "DTR false RTS false"}; !slices.Equal(lines.seen, want) {
			t.Errorf("%q, want %q", lines.seen, want)
		}
	})
}

// TestFind: two equal boards are never mixed up.
func TestFindPort(t *testing.T) {
	ports := []Port{
		{Path: "/dev/ttyS0"},
		{Path: "/dev/ttyACM0", USB: USBID{"2E8A", "000A"}, Serial: "A"},
		{Path: "/dev/ttyACM1", USB: picoID, Serial: "B"},
	}
	for _, tt := range []struct {
		entry Entry
		want  string
	}{
		{Entry{USBSerial: "B"}, "/dev/ttyACM1"},
		{Entry{USBSerial: "b"}, "/dev/ttyACM1"},
		{Entry{USBSerial: "C"}, ""},
		{Entry{Port: "/dev/ttyACM0"}, "/dev/ttyACM0"},
		{Entry{Port: "/dev/ttyACM5"}, ""},
		{Entry{Port: "/dev/ttyACM5", USBSerial: "A"}, "/dev/ttyACM0"},
	} {
		p, ok, err := find(ports, picoDevice(tt.entry))
		if err != nil || ok != (tt.want != "") || ok && p.Path != tt.want {
			t.Errorf("%+v: %q, %t, %v, want %q", tt.entry, p.Path, ok, err, tt.want)
		}
	}
	_, _, err := find(ports, picoDevice(Entry{}))
	wantOutcome(t, err, NoConsole, "2 ports may be the pico", "/dev/ttyACM0 (usb-serial A)", DefaultMap)
	if p, ok, err := find(ports[:2], picoDevice(Entry{})); err != nil || !ok || p.Path != "/dev/ttyACM0" {
		t.Errorf("one that is alone: %q, %t, %v", p.Path, ok, err)
	}
	// A link is as good as the port.
	link := filepath.Join(t.TempDir(), "by-id")
	writeFile(t, link, nil)
	if p, ok, err := find(ports, picoDevice(Entry{Port: link})); err != nil || !ok || p.Path != link {
		t.Errorf("a link: %q, %t, %v", p.Path, ok, err)
	}
	if p, ok, err := find(ports, picoDevice(Entry{Port: link, USBSerial: "C"})); err != nil || ok {
		t.Errorf("a link, and a serial number that is not there: %q, %t, %v", p.Path, ok, err)
	}
	// One device may make several ports: the first is the console.
	if p, ok, err := find(append(ports, Port{Path: "/dev/ttyACM2", Serial: "B"}), picoDevice(Entry{USBSerial: "B"})); err != nil || !ok || p.Path != "/dev/ttyACM1" {
		t.Errorf("two ports of one device: %q, %t, %v", p.Path, ok, err)
	}
}

// TestFlashTinyGo: the flasher gets the port, the probe and the flags of the image, and
// it is waited for the board to come back.
func TestFlashTinyGo(t *testing.T) {
	needsSymlinks(t)
	program(t, "tinygo")
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(tinygoLog, log)
	c, err := FindCompiler(t.Context(), toy(t))
	if err != nil {
		t.Fatal(err)
	}
	im := &Image{Source: t.TempDir(), Compiler: c, Flags: []string{"-target=pico"}}
	ports := new(fakePorts)
	ports.plug(Port{Path: "/dev/ttyACM0", USB: picoID, Serial: "A"}, &fakeUSBBoard{})
	flash := func(e Entry) error {
		target := newTarget(t, picoDevice(e), ports)
		if target.Cheap() {
			t.Error("flashing is not cheap")
		}
		return target.Flash(t.Context(), im)
	}
	if err := flash(Entry{Probe: "jlink"}); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if got, want := lines[len(lines)-1], "flash -target=pico -port=/dev/ttyACM0 -programmer=jlink ."; got != want {
		t.Errorf("tinygo %s, want %s", got, want)
	}
	// The other one of two waits in its boot loader: TinyGo must not reset this one.
	target := newTarget(t, picoDevice(Entry{ID: "left", USBSerial: "B"}), ports)
	ctx, cancel := context.WithCancel(t.Context())
	target.(*serialTarget).run = func(ctx context.Context, im *Image, args []string) (string, error) {
		defer cancel() // no call returns
		return im.run(ctx, args)
	}
	if err := target.Flash(ctx, im); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	text, _ = os.ReadFile(log)
	lines = strings.Split(strings.TrimSpace(string(text)), "\n")
	if got, want := lines[len(lines)-1], "flash -target=pico -port=port-of-left,port-of-left ."; got != want {
		t.Errorf("tinygo %s, want %s", got, want)
	}
	t.Setenv(tinygoFailsAt, "flash")
	t.Setenv(tinygoFails, "error: failed to flash: unable to locate any volume: [RPI-RP2]")
	wantOutcome(t, flash(Entry{}), FlashFailed, "unable to locate any volume", "hold the button")
}

// TestFlashComesBack: the port of a board that was flashed is waited for, and if it does
// not come the error says so.
func TestFlashComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ports := new(fakePorts)
		target := &serialTarget{device: picoDevice(Entry{}), ports: ports, run: func(context.Context, *Image, []string) (string, error) { return "", nil }}
		go func() {
			time.Sleep(5 * time.Second)
			ports.plug(Port{Path: "/dev/ttyACM7", USB: picoID}, &fakeUSBBoard{})
		}()
		begun := time.Now()
		if err := target.Flash(t.Context(), new(Image)); err != nil || time.Since(begun) < 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		ports.unplug("/dev/ttyACM7")
		wantOutcome(t, target.Flash(t.Context(), new(Image)), FlashFailed, "does not come back", "hold the button")
	})
}

// TestSSH copies a program to a board by ssh, runs it there and removes it. The board is
// this machine.
func TestSSH(t *testing.T) {
	needsSymlinks(t)
	program(t, "ssh")
	d := Device{Board: Board{Name: "far", Kind: kindGo, SSH: true}, Entry: Entry{ID: "attic", Board: "far", SSH: "pi@attic"}}
	path := filepath.Join(t.TempDir(), "image")
	writeFile(t, path, []byte("#!/bin/sh\nread line\necho \"@1 heard $line\"\n"))
	hash := fmt.Sprintf("%016x", rand.Uint64()) // another run of the tests may copy to this machine, too
	target := newTarget(t, d, nil)
	if _, err := target.Start(t.Context()); err == nil {
		t.Error("it starts what was not copied")
	}
	if err := target.Flash(t.Context(), &Image{Path: path, Hash: hash}); err != nil {
		t.Fatal(err)
	}
	remote := target.(*sshTarget).remote
	other, err := NewTarget(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Flash(t.Context(), &Image{Path: path, Hash: hash}), other.Close()); err != nil {
		t.Error(err) // what another run takes away is its own
	}
	for range 2 {
		console, err := target.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := console.Write([]byte("hello\n")); err != nil {
			t.Error(err)
		}
		text, err := io.ReadAll(console)
		if err != nil || string(text) != "@1 heard hello\n" {
			t.Errorf("it says %q, %v", text, err)
		}
		console.Close()
	}
	if !exists(remote) {
		t.Errorf("%s is not there", remote)
	}
	if err := target.Close(); err != nil || exists(remote) {
		t.Errorf("%v; %s is there: %t", err, remote, exists(remote))
	}
	if _, err := target.Start(t.Context()); err == nil {
		t.Error("it starts what was removed")
	}
	// What could not be copied whole is not left there.
	t.Setenv(sshFull, "1")
	wantOutcome(t, target.Flash(t.Context(), &Image{Path: path, Hash: hash}), FlashFailed, "pi@attic", "No space left")
	if left, _ := filepath.Glob("/tmp/dyno-firmware-" + hash[:12] + "-*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	d.Entry.SSH = "pi@cellar"
	if target, err = NewTarget(d, nil); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, target.Flash(t.Context(), &Image{Path: path, Hash: hash}), FlashFailed, "pi@cellar", "Could not resolve hostname", "without asking")
}

// TestProcessEnds: a console that is closed ends its process, also one that ignores its
// input.
func TestProcessEnds(t *testing.T) {
	needsSymlinks(t)
	e := &emulator{board: Board{Emulator: []string{"sh", "-c", "echo @1; while :; do sleep 1; done", "{image}"}}}
	if _, err := e.Start(t.Context()); err == nil {
		t.Error("it starts without an image")
	}
	if err := e.Flash(t.Context(), &Image{Path: "/dev/null"}); err != nil {
		t.Fatal(err)
	}
	console, err := e.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 3)
	if _, err := io.ReadFull(console, buf); err != nil || string(buf) != "@1\n" {
		t.Errorf("%q, %v", buf, err)
	}
	p := console.(*process)
	console.Close()
	select {
	case <-p.ended:
	default:
		t.Error("the process goes on")
	}
	if n, err := console.Read(buf); err == nil {
		t.Errorf("it still says %q", buf[:n])
	}
	e.board.Emulator[0] = "/nowhere/emulator"
	_, err = e.Start(t.Context())
	wantOutcome(t, err, NoConsole, "/nowhere/emulator")
}
