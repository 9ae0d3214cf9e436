package actorloop_test

import (
	"testing"

	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/actorloop"
)

func TestConformance(t *testing.T) { conformtest.Run(t, actorloop.Impl) }
