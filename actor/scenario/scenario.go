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

// Services returns those about what an actor has besides: suspension, timers, stashes,
// questions.
func Services() [][]Scenario { return [][]Scenario{times, asking} }
