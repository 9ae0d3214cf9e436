package scenario

// Scenario is a rule about actors, told as a script.
type Scenario struct {
	Name, Rule, Why string // as those of a clause
	Script          string
}

// Life returns the scenarios about an actor's life: hooks, behaviours, families, names.
// Like the other lists it must not be changed.
func Life() [][]Scenario { return [][]Scenario{life} }

// Failures returns those about what is survived: supervision, restarts, watching.
func Failures() [][]Scenario { return [][]Scenario{supervision, restarts, watching} }

// Services returns those about what a system offers besides: suspension, timers, stashes,
// questions, dead letters, events, middleware.
func Services() [][]Scenario { return [][]Scenario{times, asking, letters, events, around} }

// Turns returns those that a dispatcher can break, too, and each implementation has to keep.
func Turns() [][]Scenario { return [][]Scenario{mailboxes, turns} }
