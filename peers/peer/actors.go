package peer

import "github.com/dynolab/dyno/workloads"

// Actors is a peer that runs actors.
type Actors struct {
	Name string // of its column, without "peer-"
	Idea string // half a sentence: what of the peer is used

	// Open makes a system of actors.
	Open func() workloads.Framework
}

// Ref returns the peer as what a workload is compared with that has On.
func (p Actors) Ref(w workloads.Workload) workloads.Ref {
	return workloads.Ref{Name: Prefix + p.Name, Doc: p.Idea, Prepare: func(st workloads.Setting) workloads.Run {
		return w.On(st, p.Open())
	}}
}
