// Package turn is the part of a board's firmware that has the clauses of actors'
// turns and mailboxes: order, bounds, priorities, blocking, suspending.
package turn

import (
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/conform"
)

// Cases returns clauses of package actor: none if impl does not implement it.
func Cases(impl dyno.Impl) firmware.Cases {
	return conform.Of(impl, conformance.ActorTurnClauses(impl))
}
