package actor

// PendingTimers returns how many timers of the system's actors and futures are running.
func (s *System) PendingTimers() int {
	s.timers.mu.Lock()
	defer s.timers.mu.Unlock()
	return len(s.timers.heap)
}

// IsShell reports whether a Ref keeps nothing of the actor.
func (r Ref) IsShell() bool {
	c := r.cell
	return c.actor == nil && c.more == nil && c.children == nil && c.older == nil && c.newer == nil
}

// Peers returns how many other systems s remembers.
func (s *System) Peers() int {
	s.remote.mu.Lock()
	defer s.remote.mu.Unlock()
	return len(s.remote.peers)
}
