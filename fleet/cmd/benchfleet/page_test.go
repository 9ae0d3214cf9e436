package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPage: the page of the status is for this machine alone unless there is TLS, and not for
// pages of other sites that give their name to its address.
func TestPage(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "status") })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0"} {
		f := &serveFlags{page: address}
		if at, err := f.servePage(ctx, page); err == nil || !strings.Contains(err.Error(), "--cert") {
			t.Errorf("%s without TLS: %s, %v", address, at, err)
		}
	}
	at, err := (&serveFlags{page: "127.0.0.1:0"}).servePage(ctx, page)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		"": http.StatusOK, "localhost:4751": http.StatusOK, "[::1]:4751": http.StatusOK, "10.1.2.3": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "evil.example:4751": http.StatusMisdirectedRequest, "localhost.evil.example": http.StatusMisdirectedRequest,
	} {
		r, err := http.NewRequest(http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("Host %q: status %d, want %d", host, answer.StatusCode, want)
		}
	}
}
