package lint

import (
	"os"
	"testing"
)

// recursionPolicy says what must not call itself in packages that boards run:
// whatever a message passes through. A goroutine there has a stack of a
// kilobyte, and nothing notices when it is used up.
var recursionPolicy = RecursionPolicy{
	// From here a message is sent, waits, and is handled; a worker's loop runs turns.
	RootsOf: []string{"actor.Dispatcher", "actor.Synchronous", "actor.Port"},
	Roots: []string{
		"(actor.Ref).Tell",
		"(actor.Ref).TellContext",
		"(actor.ReplyTo).Tell",
		"(*actor.System).Tell",
		"(*actor.System).Ask",
		"(*actor.Context).Ask",
		"(*actor.Context).Tell",
		"(*actor.Context).TellContext",
		"(*actor.System).RunUntilIdle",
		"(*actor.Cell).BeginTurn",
		"(*actor.Cell).Invoke",
		"(*actor.Cell).EndTurn",
		"(*actor.Cell).Caught",
		"(*actor.Cell).Undelivered",
	},
	Apart: []string{"time.AfterFunc"},
	Beyond: []string{
		// Package time calls it, on a goroutine apart, and nothing else has it.
		"(*actor.wallAlarm).Set$1",
		// It starts tasks, and no board is asked for it.
		"(*workloads.togetherActor).Receive",
		// A task is no message: a worker comes to one only if a program has
		// both on one pool.
		"(*impls/workstealing.future).run",
		"(*impls/workstealing.Group[T]).run",
	},
	Allowed: []Call{
		{
			From: "(*actor.Cell).appendPath", To: "(*actor.Cell).appendPath",
			Why: "as deep as the actor is below the root; a path is made for who asks for it",
		},
		{
			From: "(*actor.Cell).Invoke", To: "(*actor.Cell).Invoke",
			Why: "once: a forged message is wrapped, and the wrapper is none",
		},
		{
			From: "(*actor.proxy).Wake", To: "(*actor.Cell).post",
			Why: "who watches an actor elsewhere is told that it cannot be reached, and stands for none elsewhere itself",
		},
		{
			From: "(*actor.proxy).Wake$1", To: "actor.resume",
			Why: "who waits for room at an actor elsewhere goes on, and stands for none elsewhere itself",
		},
		{
			From: "(*actor.marked).…", To: "(*actor.marked).…",
			Why: "a port is wrapped twice at most: a mailbox of the actor's own around the dispatcher's port, the watermark around that",
		},
		{
			From: "(*actor.marked).…", To: "(*actor.custom).…",
			Why: "a port is wrapped twice at most: a mailbox of the actor's own around the dispatcher's port, the watermark around that",
		},
		{
			From: "(*actor.custom).…", To: "(*actor.custom).…",
			Why: "a port is wrapped twice at most: a mailbox of the actor's own around the dispatcher's port, the watermark around that",
		},
		{
			From: "(*actor.custom).…", To: "(*actor.marked).…",
			Why: "a port is wrapped twice at most: a mailbox of the actor's own around the dispatcher's port, the watermark around that",
		},
		{
			From: "(*actor.marked).look", To: "(*actor.EventStream).Publish",
			Why: "an event may fill a subscriber's mailbox up to its watermark, which is told once until it has emptied: at most as deep as there are such subscribers",
		},
		{
			From: "(actor.ReplyTo).unanswered", To: "(actor.Ref).Tell",
			Why: "the Failed that cannot be sent to another system goes back to its sender, and what goes back ends no Future",
		},
		{
			From: "(*actor.System).show", To: "(*actor.EventStream).Publish",
			Why: "an event may drop a subscriber's oldest message, but a dead letter that is dropped is not published: it ends when nothing else waits there",
		},
		{
			From: "…", To: "….Error",
			Why: "as deep as the user has wrapped errors; the text is made for who prints it",
		},
		{
			From: "(actor/typed.Props[M]).Untyped$3$1", To: "(actor/typed.Props[M]).Untyped$3$1",
			Why: "as deep as the user's middleware, which is counted when the actor is spawned",
		},
		{
			From: "(*impls/serial.Dispatcher).driven", To: "(*impls/serial.Dispatcher).drive",
			Why: "an actor that calls Goexit ends the goroutine, and the rest is run while it does: as deep as actors do that in one run, and no board has it",
		},
		{
			From: "(*impls/serial.box).SendWait", To: "(*impls/serial.Dispatcher).…",
			Why: "who waits for room in a turn runs other actors meanwhile: as deep as there are actors that wait, each in one turn, so a board uses the policy Block for few",
		},
	},
}

// Nothing that a message passes through on a board may need a stack whose depth
// the source does not bound. The clauses of package conformance are no
// such path and left out.
func TestNoRecursionOnMessagePaths(t *testing.T) {
	if os.Getenv("DYNO_NIGHTLY") == "" {
		t.Skip("with DYNO_NIGHTLY only: it builds the call graph of all that boards run, which takes a minute of a processor")
	}
	tree, err := readTree(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	var onBoards []string
	for _, k := range tree.sorted() {
		if importPolicy.boardSafe(k.path) && k.path != "conformance" {
			onBoards = append(onBoards, "./"+k.path)
		}
	}
	program, err := Load("../..", onBoards...)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range program.Check(recursionPolicy) {
		t.Error(v)
	}
}
