package workloads

import "testing"

// A unit is what a problem really has: a job that may do as much as it likes
// does so much.
func TestUnits(t *testing.T) {
	for _, w := range All() {
		for _, ref := range w.Refs {
			if w.Contract != TaskContract {
				break
			}
			r, ok := ref.Prepare(Setting{}).(*taskRun)
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
	for _, w := range All() {
		if w.Slicing.Unit == 0 || w.Contract != GroupContract {
			continue
		}
		for _, ref := range w.Refs {
			r := ref.Prepare(Setting{})
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
