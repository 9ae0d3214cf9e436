package measure

import "slices"

// Backlog is how many messages waited, each time that one was sent. The zero value
// has no samples and no last ones. It is not safe for concurrent use.
type Backlog struct {
	// Late is the number of the sample, counted from 0, from which on those are
	// that count as the end: as a rule the last tenth.
	Late int

	samples int
	sum     int64
	most    int
	late    int64 // the sum of those from Late on
}

// Add books that n messages waited.
func (b *Backlog) Add(n int) {
	if b.samples >= b.Late {
		b.late += int64(n)
	}
	b.samples++
	b.sum += int64(n)
	b.most = max(b.most, n)
}

// Metrics returns the most, the mean, and the mean at the end, which is larger than
// the mean if the receiver does not keep up: backlog, backlog-mean, backlog-end. It
// returns none without samples.
func (b *Backlog) Metrics() []Metric {
	if b.samples == 0 {
		return nil
	}
	return []Metric{
		{float64(b.most), "backlog", Lower},
		{float64(b.sum) / float64(b.samples), "backlog-mean", Lower},
		{float64(b.late) / float64(max(b.samples-b.Late, 1)), "backlog-end", Lower},
	}
}

// Share returns the metric of how much of whole was as it should be, in percent:
// recovered-%, for the name recovered. Of nothing it is 0 %.
func Share(name string, part, whole int64) Metric {
	return Metric{100 * float64(part) / float64(max(whole, 1)), name + "-%", Higher}
}

// Times are times of the same thing, in ticks. All of them are kept, and in memory
// that is made beforehand: a board has room for some hundreds. Make one with
// [NewTimes]. It is not safe for concurrent use.
type Times struct {
	all  []int32
	sum  int64
	over bool
}

// NewTimes returns Times with room for n.
func NewTimes(n int) *Times { return &Times{all: make([]int32, 0, n)} }

// Add books a time. Negative ones count as zero, and those of more than 2³¹-1 ticks as
// that many.
func (t *Times) Add(ticks int64) {
	const most = 1<<31 - 1
	ticks = min(max(ticks, 0), most)
	if len(t.all) == cap(t.all) {
		t.over = true
		return
	}
	t.all = append(t.all, int32(ticks))
	t.sum += ticks
}

// Metrics returns mean, median, 99th percentile and the most of the times in the
// clock's unit, and forgets them: mean-ns, p50-ns, p99-ns, max-ns, or mean-insns and so
// on, with prefix in front. A percentile is the least time that so many in a hundred
// do not exceed. It returns none if there are no times, or more than there was
// room for.
func (t *Times) Metrics(prefix string, c Clock) []Metric {
	defer t.reset()
	n := len(t.all)
	if n == 0 || t.over {
		return nil
	}
	slices.Sort(t.all)
	unit := "-" + c.Unit()
	at := func(i int) float64 { return Amount(c, float64(t.all[i])) }
	return []Metric{
		{Amount(c, float64(t.sum)) / float64(n), prefix + "mean" + unit, Lower},
		{at((n+1)/2 - 1), prefix + "p50" + unit, Lower},
		{at((99*n+99)/100 - 1), prefix + "p99" + unit, Lower},
		{at(n - 1), prefix + "max" + unit, Lower},
	}
}

func (t *Times) reset() { t.all, t.sum, t.over = t.all[:0], 0, false }
