package protoactor

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/workloads"
)

// Stop waits for an actor that has much to do: no benchmark ends before its messages are handled.
func TestStopWaits(t *testing.T) {
	defer func() {
		if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), "blocked goroutines remain") { // as a system leaves one
			panic(p)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		s, done := Peer.Open(), false
		a := s.Spawn(func(workloads.Turn, any) { time.Sleep(time.Minute); done = true })
		s.Send(a, 1)
		s.Stop([]workloads.Address{a})
		if !done {
			t.Error("Stop returns while the actor handles a message")
		}
		s.Close()
	})
}
