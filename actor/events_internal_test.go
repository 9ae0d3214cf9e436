package actor

import "testing"

// TestOneTokenForSeveralEvents: two events may leave one token, when no goroutine
// waits yet. Who takes it and one event leaves a token for the other event.
func TestOneTokenForSeveralEvents(t *testing.T) {
	var e EventStream
	s := Subscribe[int](&e, 10)
	e.Publish(1)
	e.Publish(2)
	for want := 1; want <= 2; want++ {
		if len(s.notify) != 1 {
			t.Fatalf("there is no token for event %d", want)
		}
		<-s.notify
		if n, ok := s.TryNext(); n != want || !ok {
			t.Errorf("got %d, %v, want event %d", n, ok, want)
		}
	}
	if len(s.notify) != 0 {
		t.Error("there is a token for nothing")
	}
}

// TestStreamForgetsSubscribers: those that have ended cost nothing any more.
func TestStreamForgetsSubscribers(t *testing.T) {
	var e EventStream
	if e.active() {
		t.Error("a new stream is active")
	}
	a, b := Subscribe[int](&e, 1), SubscribeFunc(&e, func(int) {})
	a.Unsubscribe()
	a.Unsubscribe()
	if list := e.subs.Load(); len(*list) != 1 || (*list)[0] != subscriber(b) {
		t.Errorf("the list is %v, want the one that is left", *list)
	}
	b.Unsubscribe()
	if e.active() {
		t.Error("a stream without subscribers is active")
	}
	Subscribe[int](&e, 1)
	e.close()
	if late := Subscribe[int](&e, 1); !late.ended || e.active() {
		t.Error("a stream that is over is active, or takes subscribers")
	}
}
