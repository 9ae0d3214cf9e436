package protocodec

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

// TestCodec: bytes are appended, each message is another one, and bytes that are none are an error.
func TestCodec(t *testing.T) {
	c := codec{&durationpb.Duration{Nanos: 7}}
	b, err := c.Append([]byte("x"), &durationpb.Duration{Seconds: 1})
	if err != nil || len(b) < 2 || b[0] != 'x' {
		t.Fatalf("appended: %q, %v", b, err)
	}
	first, err1 := c.Decode(b[1:], actor.ReplyTo{})
	second, err2 := c.Decode(b[1:], actor.ReplyTo{})
	if err1 != nil || err2 != nil || first == second || first == any(c.like) || !proto.Equal(first.(proto.Message), &durationpb.Duration{Seconds: 1}) {
		t.Errorf("read are %v and %v, %v, %v", first, second, err1, err2)
	}
	if msg, err := c.Decode([]byte{0xff}, actor.ReplyTo{}); err == nil {
		t.Errorf("what is no message is read as %v", msg)
	}
	codecs := remote.NewCodecs()
	Register(codecs, c.like)
	defer func() {
		if recover() == nil {
			t.Error("it has not the full name of its .proto file")
		}
	}()
	codecs.Register("google.protobuf.Duration", 1, c)
}
