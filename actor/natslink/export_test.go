package natslink

import (
	"errors"

	"github.com/dynolab/dyno/actor/remote"
)

// Pair returns the ends of a wire between two buses.
func Pair(a, b *Bus) (x, y remote.Wire, err error) {
	wx, err := a.newWire("")
	if err != nil {
		return nil, nil, err
	}
	wy, err := b.newWire(wx.in)
	if err != nil {
		return nil, nil, err
	}
	wx.out = wy.in
	return wx, wy, errors.Join(a.conn.Flush(), b.conn.Flush())
}

// Limit sets how many frames may wait to be read.
func Limit(w remote.Wire, frames int) {
	_ = w.(*wire).sub.SetPendingLimits(frames, mostPendingBytes)
}

// Dropped returns how many frames the client has dropped.
func Dropped(w remote.Wire) int {
	n, _ := w.(*wire).sub.Dropped()
	return n
}
