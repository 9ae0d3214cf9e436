package workloads

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

const (
	pipelineStages = 16
	pipelineItems  = 256
)

// taskPipeline is what the data decide that tasks wait for: a step needs what the stage before
// has made of the item, and what this one has made of the item before.
func taskPipeline() []Workload {
	return []Workload{{
		Name:    "pipeline",
		Doc:     "256 items go through 16 stages, with a task for each step that waits for two others: joins that are no tree",
		Checked: "a value in which all steps have their part, each in its place",
		Slicing: Slicing{Unit: pipelineStages * pipelineItems},
		Prepare: onExecutor(func(ex task.Executor) taskJob {
			p := &pipelineOnTasks{steps: make([]pipelineStep, pipelineStages*pipelineItems)}
			return pipelineJob(func(k int, want uint32) error { return demand(ex, p.round, k, want) })
		}),
		Refs: []Ref{
			valueRef(refErrgroup, "an errgroup, a goroutine for each step, and a channel that is closed when it is done", pipelineJob, pipelineOnErrgroup),
			valueRef(refBuffered, "a goroutine for each stage, and channels of 64 between them: what one writes who knows the stages", pipelineJob, sure(pipelineOnChannels(64))),
			valueRef(refUnbuffered, "the same with unbuffered channels", pipelineJob, sure(pipelineOnChannels(0))),
		},
	}}
}

// pipelineMix is what a stage makes of what it gets, and of what it has made of
// the item before. No order but the right one gives the same.
func pipelineMix(item, before uint32) uint32 { return fill(item+31*before, 1) }

// Steps are numbered item by item, so that the first ones of any number need no
// others. What they find out is the sum of what each stage has made of its last
// item: everything else is in there.

// pipelineJob runs the first steps.
func pipelineJob(do asking[int, uint32]) taskJob {
	most := pipelineStages * pipelineItems
	wants := make([]uint32, most+1)
	var last [pipelineStages]uint32
	for i := range pipelineItems {
		v := uint32(i)
		for s := range last {
			k := i*pipelineStages + s
			v = pipelineMix(v, last[s])
			wants[k+1] = wants[k] - last[s] + v
			last[s] = v
		}
	}
	return atMost(most, func(k int) error { return do(k, wants[k]) })
}

// pipelineOnTasks is a round of tasks.
type pipelineOnTasks struct{ steps []pipelineStep }

// pipelineStep is a step, as its task gets it.
type pipelineStep struct {
	item   uint32
	input  *task.Future[uint32] // of the stage before; nil for the first one
	before *task.Future[uint32] // of the item before; nil for the first one
	value  *task.Future[uint32] // its own
}

func (p *pipelineOnTasks) round(ctx context.Context, k int) (uint32, error) {
	for i := range p.steps[:k] {
		s := &p.steps[i]
		*s = pipelineStep{item: uint32(i / pipelineStages)}
		if i%pipelineStages > 0 {
			s.input = p.steps[i-1].value
		}
		if i >= pipelineStages {
			s.before = p.steps[i-pipelineStages].value
		}
		s.value = task.ForkCall(ctx, pipelineTask, s)
	}
	sum := uint32(0)
	for i := max(k-pipelineStages, 0); i < k; i++ {
		v, err := p.steps[i].value.Value(ctx)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func pipelineTask(ctx context.Context, s *pipelineStep) (v uint32, err error) {
	v = s.item
	if s.input != nil {
		if v, err = s.input.Value(ctx); err != nil {
			return 0, err
		}
	}
	var before uint32
	if s.before != nil {
		if before, err = s.before.Value(ctx); err != nil {
			return 0, err
		}
	}
	return pipelineMix(v, before), nil
}

func pipelineOnErrgroup(k int) (uint32, error) {
	type step struct {
		value uint32
		there chan struct{}
	}
	var eg errgroup.Group
	steps := make([]step, k)
	for i := range steps {
		s := &steps[i]
		s.there = make(chan struct{})
		eg.Go(func() error {
			defer close(s.there)
			v, before := uint32(i/pipelineStages), uint32(0)
			if i%pipelineStages > 0 {
				input := &steps[i-1]
				<-input.there
				v = input.value
			}
			if i >= pipelineStages {
				other := &steps[i-pipelineStages]
				<-other.there
				before = other.value
			}
			s.value = pipelineMix(v, before)
			return nil
		})
	}
	err := eg.Wait()
	sum := uint32(0)
	for _, s := range steps[max(k-pipelineStages, 0):] {
		sum += s.value
	}
	return sum, err
}

func pipelineOnChannels(room int) func(k int) uint32 {
	return func(k int) uint32 {
		var (
			wg   sync.WaitGroup
			last [pipelineStages]uint32
			in   chan uint32 // of the stage
		)
		for s := range last {
			items := (k - s + pipelineStages - 1) / pipelineStages  // of this stage
			follow := (k - s + pipelineStages - 2) / pipelineStages // of the next one
			if s == pipelineStages-1 {
				follow = 0
			}
			from, to := in, make(chan uint32, room)
			wg.Add(1)
			go func() {
				defer wg.Done()
				before := uint32(0)
				for i := range items {
					v := uint32(i)
					if s > 0 {
						v = <-from
					}
					before = pipelineMix(v, before)
					if i < follow {
						to <- before
					}
				}
				last[s] = before
			}()
			in = to
		}
		wg.Wait()
		sum := uint32(0)
		for _, v := range last {
			sum += v
		}
		return sum
	}
}
