package hw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.bug.st/serial"
	"go.bug.st/serial/enumerator"
)

// A Port is a serial port of this machine.
type Port struct {
	Path   string // "/dev/ttyACM0", "COM3"
	USB    USBID  // zero if it is no USB device
	Serial string // number of the USB device; "" if it tells none
}

// Ports are the serial ports of a machine.
type Ports interface {
	// List returns the ports there are at the moment.
	List() ([]Port, error)
	// Open opens one. Only one program has a port at a time.
	Open(path string, baud int) (Wire, error)
}

// A Wire is an open serial port. Read waits for bytes, until Close is called or the
// port vanishes.
type Wire interface {
	io.ReadWriteCloser
	// Drain waits until all that was written has been sent.
	Drain() error
	// Pulse resets a board that has its reset at the lines DTR and RTS, as those have
	// that are programmed through a USB converter, and leaves both low. Others do
	// nothing; but those that make their port themselves may send nothing while DTR is
	// low.
	Pulse() error
}

// systemPorts are the ports of this machine.
type systemPorts struct{}

func (systemPorts) List() ([]Port, error) {
	details, err := enumerator.GetDetailedPortsList()
	if err != nil {
		return nil, fmt.Errorf("listing serial ports: %w", err)
	}
	var all []Port
	for _, d := range details {
		p := Port{Path: d.Name}
		if d.IsUSB {
			p.USB, p.Serial = USBID{d.VID, d.PID}, d.SerialNumber
		}
		all = append(all, p)
	}
	return all, nil
}

func (systemPorts) Open(path string, baud int) (Wire, error) {
	p, err := serial.Open(path, &serial.Mode{BaudRate: baud})
	if err != nil {
		return nil, err
	}
	// What the system has kept from before is not what will be asked for.
	if err := p.ResetInputBuffer(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return wire{p}, nil
}

// wire is a port of package serial.
type wire struct{ serial.Port }

// pulseTime is how long a reset line is held: the chips need microseconds, and the
// transistors between them and the converter some milliseconds.
const pulseTime = 100 * time.Millisecond

func (w wire) Pulse() error {
	// Low DTR with high RTS holds the reset of the usual circuit, and not the pin
	// that makes the chip wait for a program. High DTR with low RTS would hold that
	// one, and the port that is part of an ESP32-C3 keeps it in mind for the next
	// reset: so both lines stay low.
	for _, step := range []struct{ dtr, rts bool }{{false, true}, {false, false}} {
		if err := errors.Join(w.SetDTR(step.dtr), w.SetRTS(step.rts)); err != nil {
			return err
		}
		time.Sleep(pulseTime)
	}
	return nil
}

// find returns the port of a device: by the USB serial number of its entry, else by
// the path there, else by the board's USB IDs if one port only has any of them. ok is
// false if it is not there; an error means that it is not known which port it is.
func find(ports []Port, d Device) (p Port, ok bool, err error) {
	e := d.Entry
	is := func(p Port) bool { return alike(p, d.Board) }
	switch {
	case e.USBSerial != "":
		is = func(p Port) bool { return strings.EqualFold(p.Serial, e.USBSerial) }
	case e.Port != "":
		is = func(p Port) bool { return p.Path == e.Port }
	}
	same := slices.DeleteFunc(slices.Clone(ports), func(p Port) bool { return !is(p) })
	switch named := e.USBSerial != "" || e.Port != ""; {
	case len(same) == 1 || len(same) > 1 && named:
		return same[0], true, nil
	case len(same) == 0 && e.USBSerial == "" && named:
		// A link such as those of /dev/serial/by-id is not in the list.
		return Port{Path: e.Port}, exists(e.Port), nil
	case len(same) == 0:
		return Port{}, false, nil
	}
	var paths []string
	for _, p := range same {
		paths = append(paths, fmt.Sprintf("%s (usb-serial %s)", p.Path, p.Serial))
	}
	return Port{}, false, failedBut(NoConsole,
		fmt.Sprintf("%d ports may be the %s: %s", len(same), d.Board.Name, strings.Join(paths, ", ")),
		"write an entry into "+DefaultMap+" for each, with board: "+d.Board.Name+", an id, and its port or usb-serial")
}

// alike reports whether a port may be one of a board of that kind, by its USB ID.
func alike(p Port, b Board) bool {
	return slices.ContainsFunc(b.USB, func(u USBID) bool { return strings.EqualFold(u.String(), p.USB.String()) })
}

// lookEvery is how often it is looked whether a port is there.
const lookEvery = 100 * time.Millisecond

// await waits until the port of d is there and can be opened, for at most limit. It returns
// the latest error of opening it, or one that says that there was no port or that ports
// could not be listed.
func await(ctx context.Context, ports Ports, d Device, limit time.Duration) (Wire, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTooLong)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last error
	for {
		// A list may fail while a device comes or goes.
		list, listing := ports.List()
		p, ok, err := find(list, d)
		if err != nil {
			return nil, err
		}
		if ok && listing == nil {
			w, err := ports.Open(p.Path, d.Board.BaudRate())
			if err == nil {
				return w, nil
			}
			last = fmt.Errorf("opening %s: %w", p.Path, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, errTooLong) {
				return nil, err
			}
			return nil, cmp.Or(last, listing, fmt.Errorf("there is no port %s", wanted(d)))
		}
	}
}

// errTooLong ends waiting.
var errTooLong = errors.New("that took too long")

// wanted says which port is looked for.
func wanted(d Device) string {
	switch {
	case d.Entry.USBSerial != "":
		return "with the USB serial number " + d.Entry.USBSerial
	case d.Entry.Port != "":
		return d.Entry.Port
	case len(d.Board.USB) == 0:
		return "known for the board " + d.Board.Name + ", whose USB ID is not known either"
	}
	var ids []string
	for _, u := range d.Board.USB {
		ids = append(ids, u.String())
	}
	return "with the USB ID " + strings.Join(ids, " or ")
}
