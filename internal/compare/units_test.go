package compare

import (
	"strings"
	"testing"
)

// Units have the directions that people know.
func TestDirectionsOfNames(t *testing.T) {
	for direction, units := range map[int]string{
		-1: "ns/op sec/op ms/op s/op us/op µs/frame p99-ns latency-ns p50-ms stop-ns/actor max-latency wait_ns min/job " +
			"B/op bytes/op MB/op B/msg heap-KiB/op allocs/op allocs/msg errors errors/op errors/s miss-% cache-misses/op timeouts drops/s " +
			"insns/op instructions/op cycles/op cpu-ns/op gcs/Mop",
		+1: "req/s MB/s B/s msgs/s ops/sec tokens/second op/ms qps fps read-MB/s throughput",
		0:  "hit-% text-bytes B actors ratio widgets allocs/s ns/s recovered-% x/y /s",
	} {
		for unit := range strings.FieldsSeq(units) {
			if got := dimensionOf(unit).better; got != direction {
				t.Errorf("%s: %d, want %d", unit, got, direction)
			}
		}
	}
	for unit, want := range map[string]float64{"ns/op": 1e-9, "p99-ns": 1e-9, "ms/frame": 1e-3, "s/op": 1, "sec/op": 1, "insns/op": 0, "msgs/s": 0, "hit-%": 0} {
		if got := Seconds(unit); got != want {
			t.Errorf("%s has %v seconds, want %v", unit, got, want)
		}
	}
}

// What a file says of a unit holds against what its name does; speed is then no word for it.
func TestUnitLineHoldsAgainstTheName(t *testing.T) {
	for _, test := range []struct {
		unit, says string
		above      bool
		want       Verdict
	}{
		{"req/s", "", false, Slower},
		{"req/s", "better=lower", false, Better},
		{"p99-ns", "", true, Slower},
		{"p99-ns", "better=higher", true, Better},
		{"errors", "", true, Worse},
		{"hit-%", "", false, Lower},
		{"hit-%", "better=higher", false, Worse},
		{"errors", "better=none", true, Higher},
	} {
		text := ""
		if test.says != "" {
			text = "Unit " + test.unit + " " + test.says + "\n"
		}
		c := compareText(t, Options{}, text+"BenchmarkX 1 5 "+test.unit+"\n")
		if got := c.Tables[0].word(test.above); got != test.want {
			t.Errorf("%s %s above %v: %s, want %s", test.unit, test.says, test.above, got, test.want)
		}
	}
}

// What is as good as none is so in bytes and allocations for something, and in no other unit:
// half a megabyte is not, nor is a rate.
func TestNegligible(t *testing.T) {
	for unit, want := range map[string]float64{"allocs/op": 0.01, "allocs/msg": 0.01, "B/op": 1, "B/s": 0, "MB/s": 0, "MB/op": 0, "allocs/s": 0, "B": 0, "ns/op": 0} {
		if got := Negligible(unit); got != want {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
	c := compareText(t, Options{Base: "a"}, blocks(12, "BenchmarkX/impl=a 1 2~e-1 MB/op", "BenchmarkX/impl=b 1 5~e-1 MB/op"))
	wantVerdict(t, c, "MB/op", "X", "b", Worse)
}
