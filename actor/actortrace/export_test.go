package actortrace

// Handling returns how many actors are handling a message, as the tracer has it.
func (tr *Tracer) Handling() int { return len(tr.current) }
