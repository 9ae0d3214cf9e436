package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startServe runs benchrun serve and returns the address that it prints, and what ends it
// and returns its exit status and what it said.
func startServe(t *testing.T, args ...string) (address string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var said bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, append([]string{"serve"}, args...), nil, in, &said)
		_ = in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cancel()
		t.Fatalf("it ends with status %d: %s", <-status, said.String())
	}
	return strings.TrimSpace(line), func() (int, string) {
		cancel()
		select {
		case code := <-status:
			return code, said.String()
		case <-time.After(10 * time.Minute):
			t.Fatal("it does not end")
			return 0, ""
		}
	}
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.bench"), []byte("BenchmarkX/impl=a 1 5 ns/op\nBenchmarkX/impl=b 1 6 ns/op\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	address, stop := startServe(t, dir, "--addr", "127.0.0.1:0")
	res, err := http.Get(address + "run/run.bench/")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), "The answer") {
		t.Errorf("the report is %s, %v: %.200s", res.Status, err, body)
	}
	if code, said := stop(); code != 0 || said != "benchrun: ended\n" {
		t.Errorf("it ends with status %d: %q", code, said)
	}
	if _, err := http.Get(address); err == nil {
		t.Error("it still answers")
	}
}

// Every address may be let in, and then a warning says so.
func TestServeWarns(t *testing.T) {
	address, stop := startServe(t, t.TempDir(), "--addr", "0.0.0.0:0")
	if !strings.HasPrefix(address, "http://localhost:") {
		t.Errorf("the address is %s", address)
	}
	if code, said := stop(); code != 0 || !strings.Contains(said, "warning: ") || !strings.Contains(said, "every machine that reaches it") {
		t.Errorf("it ends with status %d: %q", code, said)
	}
}

func TestServeErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{filepath.Join(dir, "none")}, "there is no folder"},
		{[]string{dir, "--addr", "8080"}, "must be host:port"},
		{[]string{dir, "--addr", taken.Addr().String()}, "--addr 127.0.0.1:0 takes any free port"},
		{[]string{dir, dir}, "accepts at most 1 arg"},
	} {
		var said bytes.Buffer
		if code := run(t.Context(), append([]string{"serve"}, tt.args...), nil, io.Discard, &said); code != 2 || !strings.Contains(said.String(), tt.want) {
			t.Errorf("%q ends with status %d: %s", tt.args, code, said.String())
		}
	}
}
