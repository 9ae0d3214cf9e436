package actor

// ofWatching is who watches the actor, and whom it watches.
type ofWatching struct {
	watchers watchers
	watching map[*Cell]struct{}
}

// watchers is a set of actors that keeps the order in which they came, but for
// those that leave.
type watchers struct {
	list []*Cell
	at   map[*Cell]int // position in list
}

func (w *watchers) add(c *Cell) {
	if _, ok := w.at[c]; ok {
		return
	}
	if w.at == nil {
		w.at = make(map[*Cell]int)
	}
	w.at[c] = len(w.list)
	w.list = append(w.list, c)
}

func (w *watchers) remove(c *Cell) {
	i, ok := w.at[c]
	if !ok {
		return
	}
	last := len(w.list) - 1
	w.list[i] = w.list[last]
	w.at[w.list[i]] = i
	w.list[last] = nil
	w.list = w.list[:last]
	delete(w.at, c)
}

// Watch has the actor be told, by a [Terminated] message, when r has stopped: once,
// also if it has stopped already, and however often it is watched. The message
// comes ahead of the mailbox and takes no room in it. When it comes r's name is
// free. Watching the zero Ref or itself does nothing. An actor in another system
// that cannot be reached, now or later on, is as good as stopped: its Terminated has
// [ErrUnreachable], though it may live.
func (x *Context) Watch(r Ref) {
	c, t := x.turn(), r.cell
	if t == nil || t == c {
		return
	}
	m := c.extra()
	if m.watching == nil {
		m.watching = make(map[*Cell]struct{})
	}
	if _, ok := m.watching[t]; ok {
		return
	}
	m.watching[t] = struct{}{}
	if !t.post(&signal{kind: sigWatch, arg: c}, c.workerFor(t)) {
		c.signals.push(&signal{kind: sigTerminated, arg: &Terminated{Actor: r}})
	}
}

// Unwatch undoes Watch: no Terminated of r comes any more, not even if r has
// stopped before.
func (x *Context) Unwatch(r Ref) {
	c, t := x.turn(), r.cell
	if t == nil || c.more == nil {
		return
	}
	if _, ok := c.more.watching[t]; !ok {
		return
	}
	delete(c.more.watching, t)
	c.send(t, &signal{kind: sigUnwatch, arg: c})
}

// terminated queues the notice that an actor has stopped, if it is still watched.
func (c *Cell) terminated(t *Terminated) {
	if _, ok := c.more.watching[t.Actor.cell]; ok {
		c.more.notices.push(notice{msg: *t, from: t.Actor.cell})
	}
}

// unwatchAll has those that a stopped actor watched forget it.
func (c *Cell) unwatchAll() {
	for t := range c.more.watching {
		c.send(t, &signal{kind: sigUnwatch, arg: c})
	}
}

// tellWatchers tells those who watch the actor that it has stopped.
func (c *Cell) tellWatchers() {
	for _, w := range c.more.watchers.list {
		c.send(w, &signal{kind: sigTerminated, arg: &Terminated{Ref{c}, c.more.lastErr}})
	}
}
