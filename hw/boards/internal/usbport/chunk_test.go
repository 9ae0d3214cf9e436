package usbport

import "testing"

// TestChunk: whatever is written, each chunk is one packet of the driver, and all of it is
// sent.
func TestChunk(t *testing.T) {
	sent := 0
	for round := range 1000 {
		for n := 1 + round*37%300; n > 0; {
			c := chunk(sent, n)
			if c < 1 || c > n || c > packet {
				t.Fatalf("a chunk of %d bytes, of %d", c, n)
			}
			if first, last := sent/queue, (sent+c-1)/queue; first != last {
				t.Fatalf("a chunk of %d bytes after %d goes over the end of the queue", c, sent)
			}
			sent, n = sent+c, n-c
		}
	}
	if got := chunk(0, 1000); got != packet {
		t.Errorf("chunks of %d bytes, want whole packets", got)
	}
}
