package hw

import (
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
	by := func(match func(Port) bool) (Port, bool) {
		i := slices.IndexFunc(ports, match)
		if i < 0 {
			return Port{}, false
		}
		return ports[i], true
	}
	switch {
	case e.USBSerial != "":
		p, ok = by(func(p Port) bool { return strings.EqualFold(p.Serial, e.USBSerial) })
		return p, ok, nil
	case e.Port != "":
		if p, ok = by(func(p Port) bool { return p.Path == e.Port }); ok {
			return p, true, nil
		}
		// A link such as those of /dev/serial/by-id is not in the list.
		return Port{Path: e.Port}, exists(e.Port), nil
	}
	var same []Port
	for _, p := range ports {
		if alike(p, d.Board) {
			same = append(same, p)
		}
	}
	switch len(same) {
	case 0:
		return Port{}, false, nil
	case 1:
		return same[0], true, nil
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

// await waits until the port of d is there, and as it should be if ready is not nil,
// for at most limit. It returns the latest error of ready, or one that says that
// there was no port or that ports could not be listed.
func await(ctx context.Context, ports Ports, d Device, limit time.Duration, ready func(Port) error) (Port, error) {
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
			return Port{}, err
		}
		if ok && listing == nil {
			if ready == nil {
				return p, nil
			}
			if last = ready(p); last == nil {
				return p, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, errTooLong) {
				return Port{}, err
			}
			if last == nil {
				last = listing
			}
			if last == nil {
				last = fmt.Errorf("there is no port %s", wanted(d))
			}
			return Port{}, last
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
