#!/usr/bin/env bash
# Guess:   a watcher of a key-value bucket of NATS is told of each end of a key, that by the TTL of the bucket too.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    Get says that there is no such key, and the watcher hears nothing: who keeps a copy by watching keeps
#          it for ever. Only a bucket with LimitMarkerTTL, which is 0 by default, tells him, as of a purge.
. "$(dirname "$0")/lib.sh"
object_store 'TTL: time.Minute' <<'E'
	o.Status(ctx)
	for _, marker := range []time.Duration{0, time.Second} {
		kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: fmt.Sprint("m", int(marker)), TTL: time.Second, LimitMarkerTTL: marker})
		if err != nil {
			panic(err)
		}
		kv.Put(ctx, "k", []byte("v"))
		w, _ := kv.WatchAll(ctx)
		told, end := "", time.After(4*time.Second)
		for waiting := true; waiting; {
			select {
			case e := <-w.Updates():
				if e != nil {
					told += " " + e.Operation().String()
				}
			case <-end:
				waiting = false
			}
		}
		_, err = kv.Get(ctx, "k")
		fmt.Printf("marker %v: gone %v, told%s\n", marker, err == jetstream.ErrKeyNotFound, told)
	}
E
same <<'E'
marker 0s: gone true, told KeyValuePutOp
marker 1s: gone true, told KeyValuePutOp KeyValuePurgeOp
E
