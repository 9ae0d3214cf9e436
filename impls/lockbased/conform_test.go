package lockbased_test

import (
	"testing"

	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/lockbased"
)

func TestConformance(t *testing.T) { conformtest.Run(t, lockbased.Impl) }
