package workloads

import "testing"

// A unit is what a problem really has: a job that may do as much as it likes
// does so much.
func TestUnits(t *testing.T) {
	for _, w := range Tasks() {
		for _, ref := range w.Refs {
			r, ok := ref.Prepare().(*taskRun)
			if !ok || w.Slicing.Unit == 0 {
				continue // no jobs, or of any size
			}
			if w.Slicing.Unit > 8000 && ref.Name != refFloor {
				continue // more goroutines than the race detector allows
			}
			n, err := r.job(1 << 30)
			if n != w.Slicing.Unit || err != nil {
				t.Errorf("%s, %s: %d operations at once, %v, and the unit is %d", w.Path(), ref.Name, n, err, w.Slicing.Unit)
			}
			r.Close()
		}
	}
	for _, w := range Groups() {
		if w.Slicing.Unit == 0 {
			continue
		}
		for _, ref := range w.Refs {
			r := ref.Prepare()
			size := 0
			switch r := r.(type) {
			case *batchRun:
				size = len(r.tasks)
			case *flowRun:
				size = r.size
			default:
				continue
			}
			if size != w.Slicing.Unit {
				t.Errorf("%s, %s: groups of %d, and the unit is %d", w.Path(), ref.Name, size, w.Slicing.Unit)
			}
			r.Close()
		}
	}
}

// Either a workload can be sliced, or it says why not.
func TestSlicing(t *testing.T) {
	check := func(path string, s Slicing, whole bool) {
		if s.Unit < 0 || (s.Whole != "") != whole || whole && s.Unit != 0 {
			t.Errorf("%s: %+v", path, s)
		}
	}
	for _, w := range Groups() {
		check(w.Path(), w.Slicing, false)
	}
	for _, w := range Tasks() {
		check(w.Path(), w.Slicing, false)
	}
	for _, w := range Actors() {
		check(w.Path(), w.Slicing, w.Open || w.Name == "spawn" || w.Actors >= tooManyActors)
		if w.Actors > 0 && w.Actors < tooManyActors && w.Slicing.Unit != w.Actors {
			t.Errorf("%s: a unit of %d, with %d actors", w.Path(), w.Slicing.Unit, w.Actors)
		}
	}
}
