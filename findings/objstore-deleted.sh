#!/usr/bin/env bash
# Guess:   to delete an object twice is an error the second time, as it is for a name that never was; and a
#          deleted object has no bytes to get.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    Delete succeeds any number of times, because the name stays. GetBytes with GetObjectShowDeleted
#          gives no bytes and no error: a deleted object reads as an empty one.
. "$(dirname "$0")/lib.sh"
object_store '' <<'E'
	o.PutString(ctx, "k", "v")
	fmt.Println("never was:", o.Delete(ctx, "x"))
	fmt.Println("deleted:", o.Delete(ctx, "k"), o.Delete(ctx, "k"))
	data, err := o.GetBytes(ctx, "k", jetstream.GetObjectShowDeleted())
	fmt.Println("read:", len(data), err)
E
same <<'E'
never was: nats: object not found
deleted: <nil> <nil>
read: 0 <nil>
E
