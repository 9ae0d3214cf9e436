package decimal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// check compares a number's text with that of strconv, which has been proven more often.
func check(t *testing.T, v float64) {
	t.Helper()
	for places := range MostPlaces + 1 {
		want := strconv.FormatFloat(v, 'f', places, 64)
		if math.Abs(v) >= tooLarge {
			want = strconv.FormatFloat(math.Inf(int(math.Copysign(1, v))), 'f', places, 64)
		}
		if got := string(Append([]byte("x"), v, places)); got != "x"+want {
			t.Errorf("%v with %d places: %q, want %q", v, places, got[1:], want)
		}
	}
}

func TestAppend(t *testing.T) {
	for _, v := range []float64{
		0, math.Copysign(0, -1), 0.5, 1.5, 2.5, -0.5, -2.5, 0.25, 0.75, 0.125, 0.375, 0.0078125, 0.00390625, 1e-7, 5e-8, 1e-30, math.SmallestNonzeroFloat64,
		0.9999999, 0.99999995, 0.99999996, 9.5, 312.041, 999.9995, 15_625_000, 1<<53 - 1, 1<<53 + 2, 1<<63 - 1024, 1 << 63, -1 << 63, math.MaxFloat64,
		math.Inf(1), math.Inf(-1), math.NaN(),
	} {
		check(t, v)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		check(t, math.Float64frombits(rng.Uint64()))
		check(t, rng.Float64()*math.Pow(10, float64(rng.IntN(20)-8)))
		check(t, float64(rng.IntN(1<<20))/float64(int(1)<<rng.IntN(20))) // has ties
	}
}

func FuzzAppend(f *testing.F) {
	f.Add(312.041)
	f.Fuzz(func(t *testing.T, v float64) { check(t, v) })
}

func TestAppendShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 100: "100", 0.5: "0.5", 312.0401: "312.04", 20: "20", 1e-9: "0"} {
		if got := string(AppendShort(nil, v, 3)); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if got := string(AppendShort(nil, 100, 0)); got != "100" {
		t.Errorf("100 without places: %q", got)
	}
}

func TestPlaces(t *testing.T) {
	for _, places := range []int{-1, MostPlaces + 1} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); v != "decimal: places must be 0 to 7" {
					t.Errorf("%d places: %s", places, v)
				}
			}()
			Append(nil, 1, places)
		}()
	}
}
