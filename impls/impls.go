// Package impls is the list of implementations: one line each.
package impls

import (
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls/actorloop"
	"github.com/dynolab/dyno/impls/channel"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/impls/workstealing"
)

// All returns every implementation, in the order in which tables show them.
func All() []dyno.Impl {
	return []dyno.Impl{
		lockbased.Impl,
		actorloop.Impl,
		channel.Impl,
		workstealing.Impl,
		serial.Impl,
	}
}
