package floats

import (
	"cmp"
	"slices"
)

func least(a, b float64) float64 {
	return min(a, 2, b) // want `min takes the least or greatest of floating-point numbers: compare them by <`
}

type celsius float32

func named(a, b celsius) celsius {
	return max(a, b) // want `max takes the least or greatest`
}

func ordered[T cmp.Ordered](a, b T) T {
	return max(a, b) // want `max takes the least or greatest`
}

type number interface{ int | ~float64 }

func listed[T number](a, b T) T {
	return min(a, b) // want `min takes the least or greatest`
}

func nested[T interface{ interface{ number } }](a, b T) T {
	return min(a, b) // want `min takes the least or greatest`
}

func slice(all []float64) float64 {
	return slices.Min(all) // want `slices.Min takes the least or greatest`
}
