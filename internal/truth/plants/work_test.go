package plants

// What benchmarks have results in, so that the compiler leaves no work out.
var (
	sink      uint64
	bytesSink []byte
)

// spin does so many rounds of work for the processor, about two nanoseconds each.
func spin(x uint64, rounds int) uint64 {
	x |= 1
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// text returns n bytes that look like letters, the same ones each time.
func text(n int) []byte {
	out := make([]byte, n)
	x := uint64(1)
	for i := range out {
		x = spin(x, 1)
		out[i] = 'a' + byte(x%26)
	}
	return out
}
