package onemutex

import (
	"testing"

	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads/benchtest"
)

// Beside the references and dyno's own implementations, so that one run compares all of them.

func BenchmarkActor(b *testing.B) { benchtest.ActorsSideBySide(b, append(impls.All(), Impl)) }

func BenchmarkGroup(b *testing.B) { benchtest.GroupsSideBySide(b, append(impls.All(), Impl)) }
