package remote

import (
	"testing"

	"github.com/dynolab/dyno/actor"
)

// pointing is a message that points into itself when it has been read.
type pointing struct {
	room [1]byte
	text []byte
}

func (m *pointing) AppendBinary(b []byte) ([]byte, error) { return append(b, m.text...), nil }

func (m *pointing) UnmarshalBinary(b []byte) error {
	m.text = m.room[:copy(m.room[:], b)]
	return nil
}

// adding is one that adds what is read to what it is.
type adding [2]uint8

func (m *adding) AppendBinary(b []byte) ([]byte, error) { return append(b, m[0]), nil }

func (m *adding) UnmarshalBinary(b []byte) error {
	m[0] += b[0]
	return nil
}

// What is read for a message is that message's alone.
func TestValuesAreReadApart(t *testing.T) {
	r := NewCodecs()
	Binary[pointing](r, "pointing")
	Binary[adding](r, "adding")
	read := func(name, text string) any {
		msg, err := r.byName[name].Decode([]byte(text), actor.ReplyTo{})
		if err != nil {
			t.Fatal(err)
		}
		return msg
	}
	for range 100 { // a sync.Pool may lose one
		a, b := read("pointing", "a").(pointing), read("pointing", "b").(pointing)
		if string(a.text) != "a" || string(b.text) != "b" {
			t.Fatalf("read %q and %q", a.text, b.text)
		}
		if a, b := read("adding", "a").(adding), read("adding", "b").(adding); a[0] != 'a' || b[0] != 'b' {
			t.Fatalf("read %v and %v", a, b)
		}
	}
}
