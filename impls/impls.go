// Package impls is the list of implementations: one line each.
package impls

import (
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls/lockbased"
)

// All returns every implementation, in the order in which tables show them.
func All() []dyno.Impl {
	return []dyno.Impl{
		lockbased.Impl,
	}
}
