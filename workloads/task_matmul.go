package workloads

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/dynolab/dyno/task"
)

const (
	matmulSize  = 128
	matmulBlock = 16 // the side of what one task computes
	matmulSide  = matmulSize / matmulBlock
	matmulTasks = matmulSide * matmulSide
)

// taskMatmul multiplies two matrices of 128 × 128 numbers by tasks of some 20 µs; which tasks do
// which blocks is divided by halves. All cost the same, and they read the same matrices and write
// next to each other.
func taskMatmul() []Workload {
	return []Workload{{
		Name:    "matmul",
		Doc:     "the product of two matrices in 64 tasks, a block each: even work over memory that all read",
		Checked: "how many tasks; every number of the product",
		Slicing: Slicing{Unit: matmulTasks},
		Prepare: onTask(matmulJob, matmulTask),
		Refs: divideRefs(matmulJob, "a loop over the blocks, on one goroutine", func(s matmulShare) int {
			for i := s.from; i < s.to; i++ {
				matmulShare{s.m, i, i + 1}.do()
			}
			return s.to - s.from
		}),
	}}
}

// matrix is a matrix row by row. What does not fit a number is cut off, which is
// as good a ring as any.
type matrix [matmulSize * matmulSize]uint32

// matrices are two factors and their product.
type matrices struct {
	*factors
	c matrix
}

// factors is what all runs have in common.
type factors struct{ a, b, want matrix }

var matmulFactors = sync.OnceValue(func() *factors {
	f := new(factors)
	for i := range f.a {
		f.a[i], f.b[i] = fill(uint32(i), 2), fill(^uint32(i), 2)
	}
	for i := range matmulSize {
		for j := range matmulSize {
			for k := range matmulSize {
				f.want[i*matmulSize+j] += f.a[i*matmulSize+k] * f.b[k*matmulSize+j]
			}
		}
	}
	return f
})

// matmulShare are blocks of the product, numbered row by row: a [divisible].
type matmulShare struct {
	m        *matrices
	from, to int
}

// matmulJob computes the first k blocks of the product.
func matmulJob(ask asking[matmulShare, int]) taskJob {
	m := &matrices{factors: matmulFactors()}
	return atMost(matmulTasks, func(k int) error {
		clear(m.c[:])
		if err := ask(matmulShare{m, 0, k}, k); err != nil {
			return err
		}
		for i := range matmulTasks {
			if !m.right(i, i < k) {
				return errors.New("workloads: block " + strconv.Itoa(i) + " of the product is wrong")
			}
		}
		return nil
	})
}

// right reports whether block i is what it is to be: computed, or as it was.
func (m *matrices) right(i int, computed bool) bool {
	for row := range matmulBlock {
		at := matmulAt(i) + row*matmulSize
		got, want := m.c[at:at+matmulBlock], m.want[at:at+matmulBlock]
		if computed && !slices.Equal(got, want) || !computed && got[0] != 0 {
			return false
		}
	}
	return true
}

// matmulAt returns where block i begins.
func matmulAt(i int) int {
	return (i/matmulSide*matmulSize + i%matmulSide) * matmulBlock
}

func (s matmulShare) divide() (a, b matmulShare, ok bool) {
	if s.to-s.from == 1 {
		return a, b, false
	}
	half := (s.from + s.to) / 2
	return matmulShare{s.m, s.from, half}, matmulShare{s.m, half, s.to}, true
}

func (s matmulShare) do() {
	at := matmulAt(s.from)
	a, b := s.m.a[at/matmulSize*matmulSize:], s.m.b[at%matmulSize:]
	for row := range matmulBlock {
		var sums [matmulBlock]uint32
		for k := range matmulSize {
			x := a[row*matmulSize+k]
			for col, y := range b[k*matmulSize:][:matmulBlock] {
				sums[col] += x * y
			}
		}
		copy(s.m.c[at+row*matmulSize:], sums[:])
	}
}

func matmulTask(ctx context.Context, s matmulShare) (int, error) {
	a, b, ok := s.divide()
	if !ok {
		s.do()
		return 1, nil
	}
	f := task.ForkCall(ctx, matmulTask, b)
	x, err := matmulTask(ctx, a)
	if err != nil {
		return 0, err
	}
	y, err := f.Value(ctx)
	return x + y, err
}
