package workloads

import "time"

// actorSyscalls is blocked where a handler takes its thread with it, as one does that reads a file
// or calls C: Go does not give the processor to another goroutine at once, as it does where one
// sleeps, but when its monitor has seen the thread block.
func actorSyscalls() []Workload {
	w := blockedBy("syscalls", "100 of 1,000 actors sit in a system call for 1 ms in their handler: how long the 900 others wait for them",
		func(st Setting) func(time.Duration) {
			if st.Block == nil {
				return time.Sleep
			}
			return st.Block
		})
	w.Syscalls = true
	return []Workload{w}
}
