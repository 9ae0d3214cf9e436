package workloads

import (
	"errors"

	"github.com/dynolab/dyno/actor"
)

// actorPayload is [actorCount] with messages that carry something: what the sender makes anew for
// each, as real programs do. A channel of values copies them; what takes messages of any type
// allocates for each.
func actorPayload() []Workload {
	return []Workload{
		payload("", "one actor sends to another what it allocates for each message, 64 bytes: what a message costs that carries something",
			func(n *note) any { return boxParcel(n) },
			payloadRefs("pointers", boxParcel, func(k *funnelSink, p *parcel) error { return k.unpack(p) })),
		payload("by=value", "as payload, with the 64 bytes themselves in the message: what sending a value costs",
			func(n *note) any { return newParcel(n) },
			payloadRefs("values", newParcel, func(k *funnelSink, p parcel) error { return k.unpack(&p) })),
	}
}

func payload(variant, doc string, wrap func(n *note) any, refs []Ref) Workload {
	return Workload{
		Name:    "payload",
		Variant: variant,
		Doc:     doc,
		Checked: checkedFunnel + "; all 64 bytes",
		TooBig:  "64 bytes for each of up to 1,024 messages that wait",
		Prepare: func(st Setting) Run { return payloadOnActors(st, wrap) },
		Refs:    refs,
	}
}

// A parcel is a message of 64 bytes.
type parcel struct {
	note
	body [13]uint32
}

func newParcel(n *note) parcel {
	p := parcel{note: *n}
	for i := range p.body {
		p.body[i] = n.value + uint32(i)
	}
	return p
}

func boxParcel(n *note) *parcel {
	p := newParcel(n)
	return &p
}

// open returns what is in a parcel, if nothing has been altered.
func (p *parcel) open() (*note, error) {
	for i, v := range p.body {
		if v != p.value+uint32(i) {
			return nil, errors.New("workloads: what a message carries is not what was sent")
		}
	}
	return &p.note, nil
}

// parcelSender is the sender of a funnel, whose notes it wraps.
type parcelSender struct {
	*funnelSender
	wrap func(n *note) any
}

func (s parcelSender) Receive(ctx *actor.Context, msg any) error {
	part, err := s.hear(msg)
	if err != nil {
		return err
	}
	if part {
		defer s.part()
	}
	for s.left > 0 && s.free > 0 {
		s.left--
		s.free--
		if err := ctx.Tell(s.sink, s.wrap(s.pick())); err != nil {
			return err
		}
	}
	return nil
}

// unpack books what is in a parcel.
func (k *funnelSink) unpack(p *parcel) error {
	n, err := p.open()
	if err != nil {
		return err
	}
	return k.take(n)
}

// parcelSink is the receiver.
type parcelSink struct{ *funnelSink }

func (k parcelSink) Receive(ctx *actor.Context, msg any) error {
	var (
		n   *note
		err error
	)
	switch m := msg.(type) {
	case *parcel:
		n, err = m.open()
	case parcel:
		n, err = m.open()
	default:
		return errStray()
	}
	if err != nil {
		return err
	}
	return k.accept(ctx, n)
}

func payloadOnActors(st Setting, wrap func(n *note) any) Run {
	return funnelKind{senders: 1}.onActorsAs(st,
		func(s *funnelSender) actor.Actor { return parcelSender{s, wrap} },
		func(k *funnelSink) actor.Actor { return parcelSink{k} })
}

// payloadRefs are the references whose queues are of type M.
func payloadRefs[M any](of string, wrap func(n *note) M, unpack func(k *funnelSink, m M) error) []Ref {
	byHand := func(carry carrying[M]) Run {
		r := newHandRun()
		f := newFunnel(&r.progress, 1, window)
		r.protocol = f
		send := carry(r.goroutines, 1, func(_ int, m M) error { return unpack(&f.sink, m) })
		r.begun = func() { // the sender is the caller of Do
			s := &f.senders[0]
			for range s.quota {
				send(0, wrap(s.pick()))
			}
		}
		return r
	}
	return []Ref{
		{refBuffered, "goroutines and a buffered channel of " + of, func(Setting) Run { return byHand(channelsOf[M](window)) }},
		{refUnbuffered, "goroutines and an unbuffered channel of " + of, func(Setting) Run { return byHand(channelsOf[M](0)) }},
		{refMutexCond, "goroutines and a slice of " + of + " behind a mutex and condition variables", func(Setting) Run { return byHand(boxesOf[M](window)) }},
	}
}
