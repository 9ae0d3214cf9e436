// Package fail is the part of a board's firmware that has the clauses of failing
// actors: supervision, restarts, watching.
package fail

import (
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/conform"
)

// Cases returns clauses of package actor: none if impl does not implement it.
func Cases(impl dyno.Impl) firmware.Cases {
	return conform.Of(impl, conformance.ActorFailClauses(impl))
}
