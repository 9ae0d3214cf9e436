#!/usr/bin/env bash
# Guess:   a Put that is refused leaves the object that had this name as it was.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    if the larger replacement does not fit into the MaxBytes of the bucket Put returns an error, and
#          the name already leads to the new object, which has no bytes: the old one cannot be
#          read any more. GetInfo tells the size of what was refused, without an error.
. "$(dirname "$0")/lib.sh"
object_store 'MaxBytes: 200 << 10' <<'E'
	soon := func() context.Context { c, _ := context.WithTimeout(ctx, 2*time.Second); return c }
	_, err = o.PutBytes(ctx, "k", make([]byte, 100<<10))
	fmt.Println("first:", err)
	_, err = o.PutBytes(ctx, "k", make([]byte, 150<<10))
	fmt.Println("second refused:", err != nil)
	info, err := o.GetInfo(ctx, "k")
	fmt.Println("info:", info.Size>>10, err)
	data, err := o.GetBytes(soon(), "k")
	fmt.Println("read:", len(data)>>10, err != nil)
E
same <<'E'
first: <nil>
second refused: true
info: 150 <nil>
read: 0 true
E
