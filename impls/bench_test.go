package impls_test

import (
	"testing"

	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads/benchtest"
)

// BenchmarkGroup, BenchmarkTask and BenchmarkActor run all implementations and
// the references side by side.

func BenchmarkGroup(b *testing.B) { benchtest.GroupsSideBySide(b, impls.All()) }

func BenchmarkTask(b *testing.B) { benchtest.TasksSideBySide(b, impls.All()) }

func BenchmarkActor(b *testing.B) { benchtest.ActorsSideBySide(b, impls.All()) }
