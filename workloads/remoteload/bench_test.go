package remoteload_test

import (
	"testing"

	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads/benchtest"
	"github.com/dynolab/dyno/workloads/remoteload"
)

// BenchmarkRemote runs all implementations and the references side by side, over TCP.
func BenchmarkRemote(b *testing.B) {
	benchtest.SideBySide(b, remoteload.All(remoteload.TCP()), impls.All())
}
