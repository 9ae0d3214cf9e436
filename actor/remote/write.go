package remote

// wake has the writer look. mu is held.
func (a *association) wake() {
	if a.busy || a.kicked || a.state == lost {
		return // who is busy looks again before it leaves
	}
	a.kicked = true
	a.kick <- struct{}{} // has room: kicked says so
}

// write is the writer.
func (a *association) write() {
	defer a.ended.Done()
	for range a.kick {
		a.mu.Lock()
		a.kicked = false
		if a.state == lost {
			a.mu.Unlock()
			return
		}
		if a.busy {
			a.mu.Unlock()
			continue
		}
		a.busy = true
		a.flush(-1)
	}
}

// flush writes what there is to write, at most most frames if that is not
// negative. It is called with mu held and busy set, and ends with neither.
func (a *association) flush(most int) {
	defer a.mu.Unlock()
	defer func() { a.busy = false }()
	for ; most != 0; most-- {
		b := a.next()
		if b == nil {
			return
		}
		a.mu.Unlock()
		err := a.wire.WriteFrame(b)
		a.mu.Lock()
		if f := a.writing; f != nil {
			a.writing = nil
			if f.confirmed {
				a.recycle(f) // the answer was quicker than the return from the write
			}
		}
		a.writes = true
		if a.leaving && b[lengthSize] == frameBye {
			err = ErrClosed
		}
		if err != nil {
			a.fail(err)
			return
		}
	}
	if a.pending() {
		a.busy = false
		a.wake()
	}
}

// pending reports whether next has something. mu is held.
func (a *association) pending() bool {
	return a.greet || a.departing() || a.state == open && (a.ackDue || a.filling != nil || a.written < len(a.sent) || a.again < a.until)
}

// next returns the frame to write next, nil if there is none. mu is held; the
// frame is left alone until writing is nil again.
func (a *association) next() []byte {
	switch {
	case a.state == lost:
		return nil
	case a.greet:
		a.greet = false
		h := hello{
			tag: a.tag, yours: a.peer.tag, boot: a.node.sys.Boot(), answer: a.answer, name: a.node.sys.Name(),
			msgs: uint32(a.node.config.Window), bytes: uint32(a.node.config.WindowBytes),
		}
		a.answer = false
		return h.append(a.small[:0])
	case a.state != open:
		return nil
	case a.again < a.until:
		f := a.sent[a.again]
		a.again++
		return a.outgoing(f)
	case a.written == len(a.sent) && a.filling != nil:
		a.seal()
		fallthrough
	case a.written < len(a.sent):
		f := a.sent[a.written]
		a.written++
		return a.outgoing(f)
	case a.ackDue:
		h := a.header(frameAck)
		if a.gap {
			h.number = 1
		}
		b := a.small[:headerSize]
		h.put(b)
		return b
	case a.departing():
		h := a.header(frameBye)
		b := a.small[:headerSize]
		h.put(b)
		return b
	}
	return nil
}

// departing reports whether a bye is due when all is written: what was sent is
// acknowledged, or has had its time. mu is held.
func (a *association) departing() bool {
	return a.leaving && a.state == open && (len(a.sent) == 0 || a.departs >= patience)
}

// patience is how many ticks what was sent has to be acknowledged when a node is
// closed. Two more, and it is not waited for the bye either.
const patience = 10

// outgoing gives f a header. mu is held.
func (a *association) outgoing(f *frame) []byte {
	a.writing = f
	h := a.header(frameData)
	h.number = f.number
	h.put(f.buf)
	return f.buf
}

// header says what has come in. mu is held.
func (a *association) header(kind byte) header {
	a.ackDue, a.ackLater = false, false
	a.saidMsgs, a.saidBytes = a.inMsgs, a.inBytes
	return header{kind: kind, tag: a.peer.tag, received: a.received, msgs: a.inMsgs, bytes: a.inBytes}
}

// acknowledged takes in what the peer says it has got. It returns the callbacks
// for whom there is room now. mu is held.
func (a *association) acknowledged(h *header) (room []func(), err error) {
	if h.received > a.numbered || h.msgs > a.sentMsgs || h.bytes > a.sentBytes {
		return nil, ErrProtocol // of what was never sent
	}
	n, freed := 0, false
	for n < len(a.sent) && a.sent[n].number <= h.received {
		if n >= a.written {
			return nil, ErrProtocol
		}
		said := a.sent[n].system
		a.system.records -= said.records
		a.system.bytes -= said.bytes
		freed = freed || said.records > 0
		a.recycle(a.sent[n])
		n++
	}
	if n > 0 {
		left := copy(a.sent, a.sent[n:])
		clear(a.sent[left:])
		a.sent = a.sent[:left]
		a.written -= n
		a.again, a.until = max(0, a.again-n), max(0, a.until-n)
		if a.departing() {
			a.wake()
		}
	}
	if h.kind == frameAck && h.number == 1 && a.written > 0 && a.sent[0].number != a.resent {
		a.resent = a.sent[0].number
		if a.again == a.until {
			a.until = 1 // nothing else is being resent
		}
		a.again = 0
		a.wake()
	}
	if !freed && h.msgs <= a.takenMsgs && h.bytes <= a.takenBytes {
		return nil, nil
	}
	a.takenMsgs, a.takenBytes = max(a.takenMsgs, h.msgs), max(a.takenBytes, h.bytes)
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
	if len(a.callbacks) > 0 && a.hasRoom(1) {
		room, a.callbacks = a.callbacks, nil
	}
	return room, nil
}

// recycle keeps a frame that was acknowledged for later: at once, or when it has been
// written. mu is held.
func (a *association) recycle(f *frame) {
	clear(f.items)
	if f == a.writing {
		f.confirmed = true
		return
	}
	if a.spareBytes+cap(f.buf) > 4*a.node.config.Batch {
		return // it is the collector's
	}
	*f = frame{buf: f.buf, items: f.items[:0]}
	a.spare = append(a.spare, f)
	a.spareBytes += cap(f.buf)
}

// take books frames that were handled, which only the reader does, and messages that came
// in and are a mailbox's or a dead letter now.
func (a *association) take(frames, msgs, bytes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if frames > 0 {
		a.received += frames // the reader reads it without mu
	}
	a.inMsgs += msgs
	a.inBytes += bytes
	c := a.node.config
	if a.inMsgs-a.saidMsgs >= uint64(c.Window)/4 || a.inBytes-a.saidBytes >= uint64(c.WindowBytes)/4 {
		a.ackNow()
	} else {
		a.ackSoon()
	}
}

// ackNow has an acknowledgement sent. mu is held.
func (a *association) ackNow() {
	a.ackDue = true
	a.wake()
}

// ackSoon has one sent with the next frame, or the next tick. mu is held.
func (a *association) ackSoon() {
	a.ackLater = true
	a.hurry()
}
