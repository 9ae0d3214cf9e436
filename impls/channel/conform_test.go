package channel_test

import (
	"testing"

	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/channel"
)

func TestConformance(t *testing.T) { conformtest.Run(t, channel.Impl) }
