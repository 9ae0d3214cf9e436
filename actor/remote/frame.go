package remote

import (
	"encoding/binary"
	"errors"

	"github.com/dynolab/dyno/actor"
)

// A frame is what a wire carries at once. Numbers of a fixed size have their
// highest byte first; others are varints, as in package encoding/binary.
//
//	length  4 bytes   of all that follows
//	type    1 byte
//	hello:  "dyno" and the version, the sender's tag, the receiver's tag or 0,
//	        the sender's boot id, 1 if this is an answer or 0, its window in messages and in bytes, and its name
//	data:   the receiver's tag, the number of the frame, the number up to which
//	        the sender has received all, how many messages and how many bytes
//	        it has taken, and the records
//	ack:    the same without records; the number is 1 if a frame seems to be
//	        missing, and else 0
//	bye:    as an ack: the association is over
//
// A tag is a random number that a node draws for each association: a frame that
// does not have it is none of the association's, and is not looked at.
const (
	frameHello = 1 + iota
	frameData
	frameAck
	frameBye
)

const (
	// MaxFrame bounds a frame in bytes, its length included. It is what a NATS
	// server takes as the default.
	MaxFrame = 1 << 20

	magic      = "dyno\x01"
	lengthSize = 4
	headerSize = lengthSize + 1 + 5*8
	maxHello   = lengthSize + 1 + len(magic) + 3*8 + 1 + 2*4 + 2 + maxName
	// MaxMessage bounds the bytes of a message. The rest of a frame is for its
	// address, its type and where its reply goes.
	MaxMessage = MaxFrame - 16<<10
	maxPath    = 4096
)

// ErrProtocol: what came over a wire is not what a node sends. The association is
// lost for it.
var ErrProtocol = errors.New("remote: a frame that no node sends")

// The kinds of records.
const (
	recordMessage = 1 + iota // actor, type, flags, payload, reply if the flag is set
	recordForget             // both tables are empty from here
	recordReply              // actor (a Future), type, payload
	recordFail               // actor (a Future), error
	recordStop               // actor
	recordWatch              // actor
	recordUnwatch            // actor
	recordEnded              // actor (the sender's), error
	recordFind               // number, path
	recordFound              // number, 1 and actor (the sender's), or 0
)

// A table gives what was written out once a number, from 1, so that it is not
// written again; 0 stands before what has none. Both ends fill theirs alike, as
// frames are handled in order. When one of the two, of actors and of types, is full both
// begin anew (recordForget).
const (
	maxActors = 1 << 12
	maxTypes  = 1 << 10
)

// maxPaths bounds the bytes of the paths in a table of actors together: a peer may
// write out 4,096 of 4 KiB.
const maxPaths = 1 << 20

// What takes no credit - replies, and what the runtime itself sends, most of it because
// the peer has asked for it - is bounded by what the peer has not confirmed: at so many
// records or bytes replies wait, and at twice that the peer is lost.
const (
	maxSystem      = 20_000
	maxSystemBytes = 4 << 20
)

// flagReply: a message has a reply address.
const flagReply = 1

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// place is an actor within a system.
type place struct {
	path string
	pid  actor.PID
}

// appendPlace appends the path and the PID, as text.
func appendPlace(b []byte, a actor.Address) []byte {
	return appendText(appendText(b, a.Path), a.PID.String())
}

// parser takes apart what came from outside. What is not there comes out as zero,
// and bad is set. It never allocates more than there are bytes.
type parser struct {
	rest []byte
	bad  bool
}

func (p *parser) fail() { p.bad, p.rest = true, nil }

// zeros are the bytes that are not there.
var zeros [8]byte

// take takes the next n bytes, 8 at most.
func (p *parser) take(n int) []byte {
	if len(p.rest) < n {
		p.fail()
		return zeros[:n]
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *parser) byte() byte { return p.take(1)[0] }

func (p *parser) uint64() uint64 { return binary.BigEndian.Uint64(p.take(8)) }

func (p *parser) uint32() uint32 { return binary.BigEndian.Uint32(p.take(4)) }

func (p *parser) number() uint64 {
	n, size := binary.Uvarint(p.rest)
	if size <= 0 {
		p.fail()
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

// text takes bytes with their length before them, most of them at most. They are
// part of the frame.
func (p *parser) text(most int) []byte {
	n := p.number()
	if n > uint64(most) || n > uint64(len(p.rest)) {
		p.fail()
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *parser) place() place {
	path := string(p.text(maxPath))
	pid, ok := actor.ParsePID(string(p.text(maxName)))
	if !ok {
		p.fail()
		return place{}
	}
	return place{path, pid}
}

// header is what stands before the records of a frame.
type header struct {
	kind     byte
	tag      uint64 // the receiver's
	number   uint64
	received uint64
	msgs     uint64
	bytes    uint64
}

// put writes h into the front of b, which is the frame.
func (h *header) put(b []byte) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthSize))
	b[lengthSize] = h.kind
	for i, n := range [...]uint64{h.tag, h.number, h.received, h.msgs, h.bytes} {
		binary.BigEndian.PutUint64(b[lengthSize+1+8*i:], n)
	}
}

// parseFrame looks at the length and the type.
func parseFrame(b []byte) (kind byte, p parser, err error) {
	p.rest = b
	if n := p.uint32(); p.bad || len(b) > MaxFrame || int64(n) != int64(len(b)-lengthSize) {
		return 0, p, ErrProtocol
	}
	kind = p.byte()
	if p.bad || kind < frameHello || kind > frameBye {
		return 0, p, ErrProtocol
	}
	return kind, p, nil
}

// header takes the rest of the header of a frame of data or of an ack.
func (p *parser) header(kind byte) (header, error) {
	h := header{kind: kind, tag: p.uint64(), number: p.uint64(), received: p.uint64(), msgs: p.uint64(), bytes: p.uint64()}
	if p.bad || kind == frameAck && len(p.rest) != 0 {
		return header{}, ErrProtocol
	}
	return h, nil
}

// hello is how a node introduces itself.
type hello struct {
	tag, yours uint64
	boot       uint64
	answer     bool // it answers one, and is not answered
	msgs       uint32
	bytes      uint32
	name       string
}

// append appends the frame.
func (h *hello) append(b []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, frameHello)
	b = append(b, magic...)
	for _, n := range [...]uint64{h.tag, h.yours, h.boot} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	if h.answer {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.BigEndian.AppendUint32(b, h.msgs)
	b = binary.BigEndian.AppendUint32(b, h.bytes)
	b = appendText(b, h.name)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-lengthSize))
	return b
}

// hello takes the rest of a hello.
func (p *parser) hello() (hello, error) {
	if len(p.rest) < len(magic) || string(p.rest[:len(magic)]) != magic {
		return hello{}, ErrProtocol
	}
	p.rest = p.rest[len(magic):]
	h := hello{tag: p.uint64(), yours: p.uint64(), boot: p.uint64(), answer: p.byte() == 1, msgs: p.uint32(), bytes: p.uint32(), name: string(p.text(maxName))}
	if p.bad || len(p.rest) != 0 || h.tag == 0 || h.boot == 0 || h.name == "" || h.msgs == 0 || h.bytes == 0 {
		return hello{}, ErrProtocol
	}
	return h, nil
}

// record is one record, apart from the tables: what refers to them is looked up by
// who has them.
type record struct {
	kind    byte
	actor   uint64 // number in the table of actors; 0: at, or none
	at      place  // if it is written out
	typ     uint64 // likewise
	name    string
	defines bool // at is number actor from here on
	names   bool // name is number typ from here on
	payload []byte
	reply   []byte // an address
	err     error
	number  uint64
	found   bool
}

// record takes the next record. actors and types are how long the tables are.
func (p *parser) record(r *record, actors, types int) {
	*r = record{kind: p.byte()}
	switch r.kind {
	case recordMessage:
		p.actor(r, actors)
		p.typ(r, types)
		flags := p.byte()
		r.payload = p.text(MaxMessage)
		if flags&^flagReply != 0 {
			p.fail()
		} else if flags == flagReply {
			r.reply = p.text(2 * maxPath)
		}
	case recordForget:
	case recordReply:
		r.at = p.place()
		p.typ(r, types)
		r.payload = p.text(MaxMessage)
	case recordFail, recordEnded:
		r.at = p.place()
		r.err = p.error()
	case recordStop, recordWatch, recordUnwatch:
		r.at = p.place()
	case recordFind:
		r.number = p.number()
		r.at.path = string(p.text(maxPath))
	case recordFound:
		r.number = p.number()
		if r.found = p.byte() == 1; r.found {
			r.at = p.place()
		}
	default:
		p.fail()
	}
}

func (p *parser) actor(r *record, n int) {
	r.actor = p.number()
	switch {
	case r.actor <= uint64(n) && r.actor > 0:
	case r.actor == uint64(n)+1 && n < maxActors:
		r.defines = true
		r.at = p.place()
	default:
		p.fail()
	}
}

func (p *parser) typ(r *record, n int) {
	r.typ = p.number()
	switch {
	case r.typ <= uint64(n) && r.typ > 0:
	case r.typ == uint64(n)+1 && n < maxTypes:
		r.names = true
		r.name = string(p.text(maxName))
	default:
		p.fail()
	}
}
