// Package actor is the part of a board's firmware that has the clauses of actors.
//
// As scripts over one interpreter they take 436 kB of flash with the serial implementation
// on a Cortex-M3 (TinyGo 0.33); as Go they took 479 kB. All boards but one that is only
// emulated have room for all clauses together, which take 624 kB.
package actor

import (
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/conform"
)

// Cases returns the clauses of package actor: none if impl does not implement it.
func Cases(impl dyno.Impl) firmware.Cases {
	return conform.Of(impl, conformance.ActorClauses(impl))
}
