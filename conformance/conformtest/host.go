package conformtest

import (
	"github.com/dynolab/dyno/conformance"
)

// hostClauses are the clauses that need a host, in the order in which they run.
var hostClauses = []hostClause{
	{conformance.Clause{
		Name: "group/linearizable", Rule: "G4", Kind: conformance.Stochastic,
		Why: "concurrent calls take effect as if each happened at one moment, in an order that the contract allows",
	}, checkLinearizable},
	{conformance.Clause{
		Name: "group/panic-ends-process", Rule: "G7",
		Why: "with panic-to-error off a panic ends the process, with its text, as in any goroutine: it must not go unnoticed",
	}, checkPanicEndsProcess},
	{conformance.Clause{
		Name: "group/dropped-groups", Rule: "G8",
		Why: "groups that are over leave neither goroutines nor memory behind, however many there were",
	}, checkDropped},
}
