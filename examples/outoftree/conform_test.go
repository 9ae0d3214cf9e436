package onemutex

import (
	"testing"

	"github.com/dynolab/dyno/conformance/conformtest"
)

func TestConformance(t *testing.T) { conformtest.Run(t, Impl) }
