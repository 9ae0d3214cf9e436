#!/usr/bin/env bash
# Guess:   in a bucket with a TTL an object ends as a whole, and reading it then says that there is none.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    UpdateMeta begins the time anew for the description only. When the bytes have ended
#          the object is still listed with its size; reading it waits for its deadline and says timeout,
#          not ErrObjectNotFound.
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
	o, _ := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "b", TTL: 3 * time.Second})
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
}
E
go run . >got
same <<'E'
update: <nil>
info: true <nil>
read fails: true not found: false
E
