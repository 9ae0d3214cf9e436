package history

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

const (
	// leastAnchors is how many runs of a machine it takes to know its speed.
	leastAnchors = 5

	// A run of which the anchor is farther from the machine's usual one than speedPart,
	// and than speedSpreads of the spreads that runs have, is of another machine. Neighbours
	// on the same host move the least of several loops by less than 5 %; a processor of the
	// same name in another host by 20 %.
	speedPart    = 0.05
	speedSpreads = 5
)

// anchorOf returns the speed of the machine in a run: the geometric mean of the least that
// each of the anchor's loops took in any block; 0 if the file does not say.
func anchorOf(f *record.File) float64 {
	var least []float64
	for _, s := range f.Config {
		if s.Key != record.AnchorKey {
			continue
		}
		for _, text := range s.Values {
			for i, field := range strings.Fields(text) {
				ns, err := strconv.ParseFloat(field, 64)
				switch {
				case err != nil || !(ns > 0):
				case i < len(least):
					least[i] = min(least[i], ns)
				case i == len(least):
					least = append(least, ns)
				}
			}
		}
	}
	if len(least) == 0 {
		return 0
	}
	sum := 0.0
	for _, ns := range least {
		sum += math.Log(ns) / float64(len(least))
	}
	return math.Exp(sum)
}

// checkSpeed leaves out runs on a machine that is not as fast as it was, and notes where
// that is not known.
func (h *History) checkSpeed() {
	for _, machine := range h.Machines() {
		var known []int
		unknown := 0
		for i, r := range h.Runs {
			switch {
			case r.Machine != machine:
			case r.Anchor > 0:
				known = append(known, i)
			default:
				unknown++
			}
		}
		if unknown > 0 {
			h.Notes = append(h.Notes, fmt.Sprintf("%s: %d of %d runs have no anchor: whether the machine was as fast as ever is not known of them",
				machine, unknown, unknown+len(known)))
		}
		if len(known) < leastAnchors {
			continue
		}
		logs := make([]float64, len(known))
		for k, i := range known {
			logs[k] = math.Log(h.Runs[i].Anchor)
		}
		usual := stats.Median(slices.Sorted(slices.Values(logs)))
		far := make([]float64, len(logs))
		for k, v := range logs {
			far[k] = math.Abs(v - usual)
		}
		spread := stats.Median(slices.Sorted(slices.Values(far))) * 1.4826 // of normal values
		for k, i := range known {
			if far[k] > max(math.Log1p(speedPart), speedSpreads*spread) {
				h.Runs[i].Apart = fmt.Sprintf("the machine was another one, or busy: its calibration loops took %.2f times as long as in its other runs", math.Exp(logs[k]-usual))
			}
		}
	}
}
