#!/usr/bin/env bash
# Guess:   in a bucket with a TTL an object ends as a whole, and reading it then says that there is none.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    UpdateMeta begins the time anew for the description only. When the bytes have ended
#          the object is still listed with its size; reading it waits for its deadline and says timeout,
#          not ErrObjectNotFound.
. "$(dirname "$0")/lib.sh"
object_store 'TTL: 3 * time.Second' <<'E'
	o.PutString(ctx, "k", "v")
	time.Sleep(2 * time.Second)
	fmt.Println("update:", o.UpdateMeta(ctx, "k", jetstream.ObjectMeta{Name: "k", Description: "d"}))
	time.Sleep(1800 * time.Millisecond)
	info, err := o.GetInfo(ctx, "k")
	fmt.Println("info:", info != nil && info.Size == 1, err)
	c, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	_, err = o.GetBytes(c, "k")
	fmt.Println("read fails:", err != nil, "not found:", err == jetstream.ErrObjectNotFound)
E
same <<'E'
update: <nil>
info: true <nil>
read fails: true not found: false
E
