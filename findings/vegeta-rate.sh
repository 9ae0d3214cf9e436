#!/usr/bin/env bash
# Guess:   ten requests at 10 a second are a rate of 10; a redirect is no success; with one worker and a slow
#          server all requests are made, late, and their latencies grow, as they count from when each was due.
# Version: github.com/tsenart/vegeta/v12 v12.13.0.
# Seen:    11.1, since the time is that from the first to the last; 302 is a success. Of 40 requests due in
#          400 ms the nine that fit are made, of 50 ms each, and nothing says that others are missing.
. "$(dirname "$0")/lib.sh"
modules github.com/tsenart/vegeta/v12@v12.13.0
cat >main.go <<'E'
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

func main() {
	var m vegeta.Metrics
	begin := time.Now()
	for i := range 10 {
		m.Add(&vegeta.Result{Code: 302, Timestamp: begin.Add(time.Duration(i) * 100 * time.Millisecond)})
	}
	m.Close()
	fmt.Printf("rate %.1f, success %v\n", m.Rate, m.Success)

	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(50 * time.Millisecond) }))
	defer server.Close()
	m = vegeta.Metrics{}
	attack := vegeta.NewAttacker(vegeta.Workers(1), vegeta.MaxWorkers(1))
	for r := range attack.Attack(vegeta.NewStaticTargeter(vegeta.Target{Method: "GET", URL: server.URL}),
		vegeta.Rate{Freq: 100, Per: time.Second}, 400*time.Millisecond, "") {
		m.Add(r)
	}
	m.Close()
	fmt.Println("requests below 20:", m.Requests < 20, "median below 200 ms:", m.Latencies.P50 < 200*time.Millisecond)
}
E
go mod tidy >tidy.log 2>&1 || skip "cannot be fetched"
go run . >got
same <<'E'
rate 11.1, success 1
requests below 20: true median below 200 ms: true
E
