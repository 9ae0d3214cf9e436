package impls_test

import (
	"testing"

	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads/benchtest"
)

// BenchmarkGroup runs all implementations and the references side by side.
func BenchmarkGroup(b *testing.B) { benchtest.GroupsSideBySide(b, impls.All()) }
