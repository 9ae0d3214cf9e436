package usbport

const (
	// packet is what USB moves at once, and the most that some of TinyGo's drivers
	// take.
	packet = 64

	// queue is the length of the queue of TinyGo's driver, where it has one: bytes that
	// go round in it.
	queue = 512
)

// chunk returns how many of n bytes to give to the driver at once, if it has got sent
// bytes before and those have left.
//
// What has not left yet, or goes over the end of the queue, the driver sends in several
// packets, each from the handler of the interrupt that says that the one before has
// gone. In TinyGo 0.41 that of the RP2040 and the RP2350 does not notice if a packet goes
// while the handler still runs, and then nothing is sent any more. So no chunk is more
// than a packet, and none goes over the end of the queue.
func chunk(sent, n int) int {
	return min(n, packet, queue-sent%queue)
}
