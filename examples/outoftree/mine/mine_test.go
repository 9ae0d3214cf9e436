package mine

import (
	"context"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads/benchtest"
)

var Impl = dyno.Impl{
	Name:     "mine",
	Idea:     "one lock, one condition, a goroutine for each task",
	Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Parks: true},
	NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] { return NewGroup[int](ctx, opts...) },
}

func TestConformance(t *testing.T) { conformtest.Run(t, Impl) }

func BenchmarkGroup(b *testing.B) { benchtest.GroupsSideBySide(b, append(impls.All(), Impl)) }
