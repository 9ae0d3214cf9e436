#!/usr/bin/env bash
# Guess:   to delete an object twice is an error the second time, as it is for a name that never was; and a
#          deleted object has no bytes to get.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    Delete succeeds any number of times, because the name stays. GetBytes with GetObjectShowDeleted
#          gives no bytes and no error: a deleted object reads as an empty one.
. "$(dirname "$0")/lib.sh"
modules github.com/nats-io/nats-server/v2@v2.15.2 github.com/nats-io/nats.go@v1.55.0
cat >main.go <<'E'
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	s.Start()
	defer s.Shutdown()
	s.ReadyForConnections(10 * time.Second)
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		panic(err)
	}
	js, _ := jetstream.New(nc)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	o, _ := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "b"})
	o.PutString(ctx, "k", "v")
	fmt.Println("never was:", o.Delete(ctx, "x"))
	fmt.Println("deleted:", o.Delete(ctx, "k"), o.Delete(ctx, "k"))
	data, err := o.GetBytes(ctx, "k", jetstream.GetObjectShowDeleted())
	fmt.Println("read:", len(data), err)
}
E
go run . >got
same <<'E'
never was: nats: object not found
deleted: <nil> <nil>
read: 0 <nil>
E
