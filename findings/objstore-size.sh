#!/usr/bin/env bash
# Guess:   Size of the status of a NATS object store is the combined size of its objects, as its comment says.
# Version: nats-server 2.15.2, nats.go 1.55.0.
# Seen:    it is that of the stream, with headers and descriptions: an object of 100 bytes has more than 400, and
#          when all are deleted, and List finds none, it is not 0.
. "$(dirname "$0")/lib.sh"
object_store '' <<'E'
	size := func() uint64 {
		s, err := o.Status(ctx)
		if err != nil {
			panic(err)
		}
		return s.Size()
	}
	_, err = o.PutBytes(ctx, "a", make([]byte, 100))
	fmt.Println(err, "above 400:", size() > 400)
	err = o.Delete(ctx, "a")
	_, none := o.List(ctx)
	fmt.Println(err, none, "above 0:", size() > 0)
E
same <<'E'
<nil> above 400: true
<nil> nats: no objects found above 0: true
E
