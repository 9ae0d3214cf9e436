package scenario

// Scenario is a rule about actors, told as a script.
type Scenario struct {
	Name, Rule, Why string // as those of a clause
	Script          string
}

// Core returns the scenarios that only the actor core can break: about an actor's life, what
// is survived, and what a system offers besides. The lists must not be changed.
func Core() [][]Scenario {
	return [][]Scenario{life, supervision, restarts, watching, times, asking, letters, events, around}
}

// Turns returns those that a dispatcher can break, too, and each implementation has to keep.
func Turns() [][]Scenario { return [][]Scenario{mailboxes, turns} }
