#!/usr/bin/env bash
# Guess:   of two Puts of one name at a time the one that ends last is the object, and nothing of the
#          other stays.
# Version: github.com/nats-io/nats.go v1.55.0, github.com/nats-io/nats-server/v2 v2.15.2.
# Seen:    it is, and the other's bytes stay, under no name: each Put looks before it begins for what
#          it will replace. List, Delete and the size of no object tell; only the bucket's size does.
. "$(dirname "$0")/lib.sh"
modules github.com/nats-io/nats-server/v2@v2.15.2 github.com/nats-io/nats.go@v1.55.0
cat >main.go <<'E'
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A slow reader lets the other Put begin and end first.
type slow struct {
	text       *strings.Reader
	begun, end chan struct{}
}

func (s *slow) Read(p []byte) (int, error) {
	if s.begun != nil {
		close(s.begun)
		s.begun = nil
		<-s.end
	}
	return s.text.Read(p)
}

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
	o, _ := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "b"})
	first := &slow{strings.NewReader(strings.Repeat("a", 50<<10)), make(chan struct{}), make(chan struct{})}
	begun, done := first.begun, make(chan error)
	go func() {
		_, err := o.Put(ctx, jetstream.ObjectMeta{Name: "x"}, first)
		done <- err
	}()
	<-begun
	_, err = o.Put(ctx, jetstream.ObjectMeta{Name: "x"}, strings.NewReader(strings.Repeat("b", 50<<10)))
	close(first.end)
	fmt.Println("two puts:", err, <-done)
	text, err := o.GetString(ctx, "x")
	fmt.Println("it is:", text[:1], len(text)>>10, err)
	fmt.Println("deleted:", o.Delete(ctx, "x"))
	_, err = o.List(ctx)
	status, _ := o.Status(ctx)
	fmt.Println("listed:", err, "KiB left:", status.Size()>>10)
}
E
go run . >got
same <<'E'
two puts: <nil> <nil>
it is: a 50 <nil>
deleted: <nil>
listed: nats: no objects found KiB left: 50
E
