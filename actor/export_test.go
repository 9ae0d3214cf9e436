package actor

// PendingTimers returns how many timers of the system's actors and futures are running.
func (s *System) PendingTimers() int {
	s.timers.mu.Lock()
	defer s.timers.mu.Unlock()
	return len(s.timers.heap)
}
