// Package protocodec has actors of several processes tell each other protocol
// buffers: it registers generated messages with package remote.
//
//	protocodec.Register(codecs, &pb.Order{})
package protocodec

import (
	"google.golang.org/protobuf/proto"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

// Register has messages of m's type carried, under the full name that they have in
// their .proto file. Pointers are sent and arrive. A request's ReplyTo, which no
// generated message has, does not cross: ask with a type of your own around it, or
// have the request carry the address of an actor.
func Register(c *remote.Codecs, m proto.Message) {
	c.Register(string(m.ProtoReflect().Descriptor().FullName()), m, codec{m})
}

// codec carries messages of the type of like.
type codec struct{ like proto.Message }

// Append implements [remote.Codec].
func (codec) Append(dst []byte, msg any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(dst, msg.(proto.Message))
}

// Decode implements [remote.Codec].
func (c codec) Decode(src []byte, _ actor.ReplyTo) (any, error) {
	m := c.like.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(src, m); err != nil {
		return nil, err
	}
	return m, nil
}
