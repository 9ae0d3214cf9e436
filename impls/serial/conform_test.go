package serial_test

import (
	"testing"

	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/serial"
)

func TestConformance(t *testing.T) { conformtest.Run(t, serial.Impl) }
