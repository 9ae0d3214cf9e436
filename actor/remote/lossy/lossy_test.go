package lossy_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/lossy"
)

// carry writes n frames of a byte each to a, and returns what b has got, at once and in the end.
func carry(t *testing.T, a, b remote.Wire, n int) (atOnce, all []byte) {
	t.Helper()
	go func() {
		for {
			frame, err := b.ReadFrame()
			if err != nil {
				return
			}
			all = append(all, frame...)
		}
	}()
	frame := make([]byte, 1)
	for i := range n {
		frame[0] = byte(i + 1)
		if err := a.WriteFrame(frame); err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
	atOnce = slices.Clone(all)
	time.Sleep(time.Minute)
	synctest.Wait()
	return atOnce, all
}

// TestFaults: each fault does what it says, and nothing else.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		f            lossy.Faults
		atOnce, last string
	}{
		"none":              {lossy.Faults{}, "[1 2 3 4 5]", "[1 2 3 4 5]"},
		"drop":              {lossy.Faults{Drop: 1}, "[]", "[]"},
		"double":            {lossy.Faults{Double: 1}, "[1 1 2 2 3 3 4 4 5 5]", "[1 1 2 2 3 3 4 4 5 5]"},
		"reorder":           {lossy.Faults{Reorder: 1}, "[2 1 4 3]", "[2 1 4 3]"},
		"double and behind": {lossy.Faults{Double: 1, Reorder: 1}, "[1 2 1 2 3 4 3 4 5]", "[1 2 1 2 3 4 3 4 5]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, b := lossy.Pair(1, c.f)
			atOnce, all := carry(t, a, b, 5)
			if fmt.Sprint(atOnce) != c.atOnce || fmt.Sprint(all) != c.last {
				t.Errorf("%s: %v come at once, %v in the end, want %s and %s", name, atOnce, all, c.atOnce, c.last)
			}
			_, _ = a.Close(), a.Close()
			synctest.Wait()
		})
	}
}

// TestDelay: what is late arrives within MaxDelay, by default 50 ms.
func TestDelay(t *testing.T) {
	for given, most := range map[time.Duration]time.Duration{0: 50 * time.Millisecond, time.Second: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			a, b := lossy.Pair(1, lossy.Faults{Delay: 1, MaxDelay: given})
			begun, last, n := time.Now(), time.Duration(0), 0
			go func() {
				for {
					if _, err := b.ReadFrame(); err != nil {
						return
					}
					n++
					last = time.Since(begun)
				}
			}()
			for range 200 {
				if err := a.WriteFrame([]byte{1}); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if n != 200 || last > most || last < most*9/10 {
				t.Errorf("%d of 200 frames arrive, the last after %v of %v", n, last, most)
			}
			_ = a.Close()
			synctest.Wait()
		})
	}
}

// TestSeeds: what happens depends on the seed and the direction alone, as often as is said.
func TestSeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := func(seed uint64, back bool) []byte {
			a, b := lossy.Pair(seed, lossy.Faults{Drop: 0.5})
			if back {
				a, b = b, a
			}
			_, all := carry(t, a, b, 200)
			_ = a.Close()
			synctest.Wait()
			return all
		}
		one := got(1, false)
		if len(one) < 80 || len(one) > 120 {
			t.Errorf("%d of 200 frames arrive, of which half are dropped", len(one))
		}
		if !slices.Equal(one, got(1, false)) || slices.Equal(one, got(2, false)) || slices.Equal(one, got(1, true)) {
			t.Error("the seed and the direction are not what it depends on")
		}
	})
}

// TestCut: both ends hear of a wire that breaks, or is closed. What was read is the reader's until it
// reads again.
func TestCut(t *testing.T) {
	a, b := lossy.Pair(1, lossy.Faults{Double: 1})
	if err := a.WriteFrame([]byte("x")); err != nil {
		t.Fatal(err)
	}
	first, err := b.ReadFrame()
	if err != nil || string(first) != "x" {
		t.Fatal(first, err)
	}
	if second, err := b.ReadFrame(); err != nil || string(second) != "x" || first[0] != 0 {
		t.Errorf("the first is %q when the second is read, %q, %v", first, second, err)
	}
	for name, cut := range map[string]func() (a, b remote.Wire){
		"cut": func() (a, b remote.Wire) {
			a, b = lossy.Pair(1, lossy.Faults{Cut: 1})
			if err := a.WriteFrame([]byte("x")); !errors.Is(err, lossy.ErrCut) {
				t.Errorf("it breaks: %v", err)
			}
			return a, b
		},
		"closed": func() (a, b remote.Wire) {
			a, b = lossy.Pair(1, lossy.Faults{})
			_, _ = a.Close(), b.Close()
			return a, b
		},
	} {
		a, b := cut()
		for _, w := range []remote.Wire{a, b} {
			if _, err := w.ReadFrame(); !errors.Is(err, lossy.ErrCut) {
				t.Errorf("%s: it is read: %v", name, err)
			}
			if err := w.WriteFrame([]byte("x")); !errors.Is(err, lossy.ErrCut) {
				t.Errorf("%s: it is written: %v", name, err)
			}
		}
	}
}
