package workstealing_test

import (
	"testing"

	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/workstealing"
)

func TestConformance(t *testing.T) { conformtest.Run(t, workstealing.Impl) }
