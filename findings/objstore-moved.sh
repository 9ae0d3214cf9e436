#!/usr/bin/env bash
# Guess:   who reads an object that is replaced meanwhile has an error at once; a link to an object that
#          UpdateMeta renames still leads to it.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    the reader waits for its deadline and gets a timeout of one kind or another, and Error of the object is nil. A link is
#          a name: it leads nowhere, and later to whatever is put under the old one.
. "$(dirname "$0")/lib.sh"
modules github.com/nats-io/nats-server/v2@v2.15.2 github.com/nats-io/nats.go@v1.55.0
cat >main.go <<'E'
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	defer nc.Close()
	js, _ := jetstream.New(nc)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	soon := func() context.Context { c, _ := context.WithTimeout(ctx, 5*time.Second); return c }
	o, _ := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "b"})
	meta := jetstream.ObjectMeta{Name: "x", Opts: &jetstream.ObjectMetaOptions{ChunkSize: 10000}}
	if _, err = o.Put(ctx, meta, bytes.NewReader(make([]byte, 16<<20))); err != nil {
		panic(err)
	}
	began := time.Now()
	object, err := o.Get(soon(), "x")
	if err != nil {
		panic(err)
	}
	_, _ = io.ReadFull(object, make([]byte, 1000))
	_, _ = o.Put(ctx, meta, bytes.NewReader(make([]byte, 1000)))
	_, err = io.Copy(io.Discard, object)
	fmt.Println("replaced: an error:", err != nil, "at its deadline:", time.Since(began) > 4*time.Second, "Error:", object.Error())
	info, _ := o.PutString(ctx, "old", "one")
	_, _ = o.AddLink(ctx, "link", info)
	fmt.Println("renamed:", o.UpdateMeta(ctx, "old", jetstream.ObjectMeta{Name: "new"}))
	_, err = o.GetString(soon(), "link")
	fmt.Println("the link leads nowhere:", errors.Is(err, jetstream.ErrObjectNotFound))
	_, _ = o.PutString(ctx, "old", "two")
	text, err := o.GetString(soon(), "link")
	fmt.Println("and then to:", text, err)
}
E
go run . >got
same <<'E'
replaced: an error: true at its deadline: true Error: <nil>
renamed: <nil>
the link leads nowhere: true
and then to: two <nil>
E
