package hw

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/child"
)

// A Target is a device that takes images and runs them.
type Target interface {
	// Flash brings an image to the device: to a board with a serial port by TinyGo's
	// flasher, to a Linux board by ssh. An emulator only notes it.
	Flash(ctx context.Context, im *Image) error

	// Start starts the image from the beginning and returns its console: a new process
	// of an emulator or by ssh, a reset of a board.
	Start(ctx context.Context) (io.ReadWriteCloser, error)

	// Attach returns the console of what runs on the device, without starting it anew
	// where that is possible; elsewhere it is Start.
	Attach(ctx context.Context) (io.ReadWriteCloser, error)

	// Cheap reports whether Flash is a matter of a moment, so that it may be done
	// between two cases.
	Cheap() bool

	// Close removes what Flash has left behind, where it can.
	Close() error
}

// NewTarget returns the target for a device. ports are the serial ports to look for
// it; nil means those of this machine, and then only one program at a time has the
// board, until it closes the target.
func NewTarget(d Device, ports Ports) (Target, error) {
	switch d.Board.Kit() {
	case "emulator", "ssh":
		runner, err := findRunner(d.Board)
		if err != nil {
			return nil, err
		}
		if d.Board.SSH {
			return &sshTarget{device: d, ssh: runner}, nil
		}
		return &emulator{board: d.Board, path: runner}, nil
	}
	t := &serialTarget{device: d, ports: ports, run: runCompiler}
	if ports == nil {
		t.ports = systemPorts{}
		var err error
		if t.lock, err = lockDevice(os.TempDir(), d); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// emulator runs images on this machine, a process each time.
type emulator struct {
	board Board
	path  string // "" if the image is the program
	image *Image
}

func (e *emulator) Flash(_ context.Context, im *Image) error {
	e.image = im
	return nil
}

func (e *emulator) Cheap() bool  { return true }
func (e *emulator) Close() error { return nil }

func (e *emulator) Attach(ctx context.Context) (io.ReadWriteCloser, error) { return e.Start(ctx) }

func (e *emulator) Start(context.Context) (io.ReadWriteCloser, error) {
	if e.image == nil {
		return nil, failed(NoConsole, "the emulator has no image to run", nil)
	}
	args := make([]string, len(e.board.Emulator))
	for i, arg := range e.board.Emulator {
		args[i] = strings.ReplaceAll(arg, imageMark, e.image.Path)
	}
	path := cmp.Or(e.path, args[0])
	return startProcess(exec.Command(path, args[1:]...), e.board.Emulator[0])
}

// sshTarget runs images on a Linux board.
type sshTarget struct {
	device Device
	ssh    string
	remote string // path of the image there; "" if there is none
}

func (t *sshTarget) Cheap() bool { return false }

// command runs a shell command on the board, which cannot ask questions. It leaves no master
// connection behind, which would hold our pipes open.
func (t *sshTarget) command(ctx context.Context, command string) *exec.Cmd {
	return exec.CommandContext(ctx, t.ssh, "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ControlMaster=no", t.device.Entry.SSH, command)
}

func (t *sshTarget) Flash(ctx context.Context, im *Image) error {
	if err := t.Close(); err != nil {
		return err
	}
	f, err := os.Open(im.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	// The name has no character that a shell knows, and is of this run only: another run
	// on the same board may have the same image, and removes it when it ends.
	t.remote = "/tmp/dyno-firmware-" + im.Hash[:12] + "-" + strings.ToLower(rand.Text()[:10])
	cmd := t.command(ctx, "cat > "+t.remote+" && chmod 700 "+t.remote)
	cmd.Stdin = f
	if out, err := cmd.CombinedOutput(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() != 255 { // which is ssh's own
			_ = t.Close() // if there is no room, what came of it is not to take the rest
		}
		t.remote = ""
		return &Error{
			Outcome: FlashFailed, What: "the image cannot be copied to " + t.device.Entry.SSH, Output: strings.TrimSpace(string(out)), Err: err,
			Do: "see that ssh " + t.device.Entry.SSH + " works without asking for anything, and that there is room in /tmp there",
		}
	}
	return nil
}

func (t *sshTarget) Attach(ctx context.Context) (io.ReadWriteCloser, error) { return t.Start(ctx) }

func (t *sshTarget) Start(context.Context) (io.ReadWriteCloser, error) {
	if t.remote == "" {
		return nil, failed(NoConsole, "nothing was copied to "+t.device.Entry.SSH+" to be run", nil)
	}
	return startProcess(t.command(context.Background(), t.remote), "ssh")
}

func (t *sshTarget) Close() error {
	if t.remote == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	out, err := t.command(ctx, "rm -f "+t.remote).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s stays on %s: %w\n%s", t.remote, t.device.Entry.SSH, err, bytes.TrimSpace(out))
	}
	t.remote = ""
	return nil
}

// A process is a console that is a process: what it prints on either stream is read,
// and what is written goes to its standard input.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *os.File // our end of a pipe
	once  sync.Once
	ended chan struct{} // closed when the process has ended
	err   error         // how; to be read after that
}

// startProcess starts a process. It ends with this program.
func startProcess(cmd *exec.Cmd, name string) (io.ReadWriteCloser, error) {
	cannot := func(err error) error { return &Error{Outcome: NoConsole, What: name + " does not start", Err: err} }
	r, w, err := os.Pipe()
	if err != nil {
		return nil, cannot(err)
	}
	defer w.Close()
	p := &process{cmd: cmd, out: r, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = w, w
	if p.in, err = cmd.StdinPipe(); err == nil {
		err = child.Start(cmd)
	}
	if err != nil {
		r.Close()
		return nil, cannot(err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *process) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the process, with all that it has started, and waits for that.
func (p *process) Close() error {
	p.once.Do(func() {
		child.KillGroup(p.cmd)
		<-p.ended
		p.out.Close()
	})
	return nil
}

// how says how the process ended, when it has been read to the end.
func (p *process) how() string {
	select {
	case <-p.ended:
	case <-time.After(time.Second): // it has closed its output and goes on
		return "it closed its console"
	}
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

// serialTarget is a board with a serial port.
type serialTarget struct {
	device Device
	ports  Ports
	lock   *os.File // keeps others away; may be nil
	image  *Image   // what was flashed last; nil if nothing was

	// deaf says that the board was not brought back by flashing it anew either. That
	// takes half a minute, so it is not tried again until it has begun anew by itself,
	// or because its button was pressed.
	deaf bool

	// run runs the image's compiler, whose affair flashing is.
	run func(ctx context.Context, im *Image, args []string) (said string, err error)
}

func runCompiler(ctx context.Context, im *Image, args []string) (said string, err error) {
	return im.run(ctx, args)
}

func (t *serialTarget) Cheap() bool { return false }

func (t *serialTarget) Close() error {
	_ = t.lock.Close() // the lock is off then; of nil, or a second time, it is an error
	return nil
}

// How long it is waited for a board.
const (
	// mostAppearing is for a port to come back after the board was flashed or reset:
	// a boot loader that takes a file, and the system's enumeration.
	mostAppearing = 20 * time.Second
	// mostResetting is for a board to begin anew when it was told to.
	mostResetting = 5 * time.Second
)

func (t *serialTarget) Flash(ctx context.Context, im *Image) error {
	list, err := t.ports.List()
	if err != nil {
		return failed(FlashFailed, "", err)
	}
	port, there, err := find(list, t.device)
	if err != nil {
		return err
	}
	args := append([]string{"flash"}, im.Flags...)
	switch {
	case there:
		args = append(args, "-port="+port.Path)
	case slices.ContainsFunc(list, func(p Port) bool { return alike(p, t.device.Board) }):
		// This board waits in its boot loader, where it has no port, and another one of
		// its kind is connected: without a port TinyGo would send that one into its
		// boot loader too, and flash whichever of the two it sees first. Of a list of
		// ports it takes the first that is there, and if none is, it resets none.
		none := "port-of-" + t.device.Entry.ID
		args = append(args, "-port="+none+","+none)
	}
	if t.device.Entry.Probe != "" {
		args = append(args, "-programmer="+t.device.Entry.Probe)
	}
	do := t.device.Board.FlashNeeds
	if said, err := t.run(ctx, im, append(args, ".")); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &Error{Outcome: FlashFailed, What: "TinyGo's flasher: " + firstLine(cmp.Or(said, err.Error())), Do: do, Output: said, Err: err}
	}
	t.image = im
	// The board begins anew, and its port vanishes for a while if the board makes it.
	w, err := await(ctx, t.ports, t.device, mostAppearing)
	switch {
	case err == nil:
		return w.Close()
	case ctx.Err() == nil:
		return &Error{Outcome: FlashFailed, What: "the board was flashed, and its port does not come back", Do: do, Err: err}
	}
	return err
}

func (t *serialTarget) Attach(ctx context.Context) (io.ReadWriteCloser, error) {
	w, err := t.open(ctx, 0)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// open opens the port of the board, which may take up to limit to be there.
func (t *serialTarget) open(ctx context.Context, limit time.Duration) (Wire, error) {
	w, err := await(ctx, t.ports, t.device, limit)
	if err != nil && ctx.Err() == nil && !errors.As(err, new(*Error)) {
		err = failed(NoConsole, "the board "+t.device.Entry.ID+" cannot be spoken to", err)
	}
	return w, err
}

// Start resets the board: by the firmware's own command, or if that is not answered by the
// lines of the port, or if that does nothing by flashing it anew, which resets also a
// board whose firmware hangs: what TinyGo asks the boot loader by is answered by an
// interrupt, or by the chip itself. That it has begun anew shows in the numbers of its
// lines, which begin anew too, or in that its port vanishes. Before the command goes an
// empty line: what a person or a noise has begun to type ends there.
func (t *serialTarget) Start(ctx context.Context) (io.ReadWriteCloser, error) {
	w, err := t.open(ctx, mostAppearing)
	if err != nil {
		return nil, err
	}
	start := listenForStart(w)
	told := tell(w, "\nreset\n")
	began, vanished := start.within(ctx, mostResetting, told)
	if !began && !vanished && ctx.Err() == nil && w.Pulse() == nil {
		began, vanished = start.within(ctx, mostResetting, nil)
	}
	switch {
	case ctx.Err() != nil:
		w.Close()
		return nil, context.Cause(ctx)
	case began:
		t.deaf = false
		return w, nil
	}
	w.Close()
	switch {
	case vanished:
		t.deaf = false
	case t.image == nil || t.deaf:
		return nil, failedBut(NoConsole, "the board "+t.device.Entry.ID+" does not begin anew when it is told to",
			"press its reset button, or flash it again: what runs there is no firmware of dyno's, or it hangs")
	default:
		if err := t.Flash(ctx, t.image); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			t.deaf = true
			return nil, &Error{
				Outcome: NoConsole, What: "the board " + t.device.Entry.ID + " does not begin anew when it is told to, and cannot be flashed anew",
				Do: cmp.Or(t.device.Board.FlashNeeds, "press its reset button"), Err: err,
			}
		}
	}
	return t.open(ctx, mostAppearing)
}

// tell sends text, and tells how that went when all of it has left. A board that hangs
// may take nothing, and then it waits in the system until the board is unplugged: nothing
// is to wait for it.
func tell(w Wire, text string) <-chan error {
	told := make(chan error, 1)
	go func() {
		_, err := io.WriteString(w, text)
		if err == nil {
			err = w.Drain()
		}
		told <- err
	}()
	return told
}

// A starting is told whether a board begins anew: true by the first of its lines,
// false if its port vanishes. No other goroutine reads from the port until one of both has
// happened, or the port is closed.
type starting <-chan bool

func listenForStart(w io.Reader) starting {
	found := make(chan bool, 1)
	go func() {
		var d line.Decoder
		buf := make([]byte, 256)
		for {
			n, err := w.Read(buf)
			restart := false
			d.Feed(buf[:n], func(e line.Event) { restart = restart || e.Kind == line.Text && e.Seq == 1 })
			if restart || err != nil {
				found <- restart
				return
			}
		}
	}()
	return found
}

// within waits for at most limit. A board that could not be told has vanished.
func (s starting) within(ctx context.Context, limit time.Duration, told <-chan error) (began, vanished bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case began = <-s:
			return began, !began
		case err := <-told:
			if told = nil; err != nil {
				return false, true
			}
		case <-timer.C:
			return false, false
		case <-ctx.Done():
			return false, false
		}
	}
}

// exists reports whether there is a file at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
