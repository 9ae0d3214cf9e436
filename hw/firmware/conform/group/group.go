// Package group is the part of a board's firmware that has the clauses of groups.
package group

import (
	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/conform"
)

// Cases returns the clauses of package group: none if impl does not implement it.
func Cases(impl dyno.Impl) firmware.Cases {
	return conform.Of(impl, conformance.GroupClauses(impl))
}
