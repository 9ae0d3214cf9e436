package remote_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/workstealing"
)

// childEnv is set in the processes that TestKill starts and kills.
const childEnv = "DYNO_REMOTE_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// long is how long the other process may be silent: so long that a death which the
// connection does not tell of would be noticed.
const long = time.Hour

// child is the other process: the system "b" with an actor that writes down each
// message when it handles it, without a buffer, so that what it has written is what
// it has handled, whenever it is killed.
func child() {
	sys, err := actor.NewSystem(actor.Config{Name: "b", Dispatcher: workstealing.Impl.NewDispatcher(), Guardian: remotetest.Func(
		func(ctx *actor.Context, _ any) error {
			_, err := ctx.SpawnNamed("sink", remotetest.Func(func(ctx *actor.Context, msg any) error {
				switch msg := msg.(type) {
				case remotetest.Count:
					_, err := os.Stdout.Write(binary.BigEndian.AppendUint64(nil, uint64(msg)))
					return err
				case remotetest.Question:
					if msg.N == 0 {
						return nil // the one that is never answered
					}
					return ctx.Reply(msg.ReplyTo, remotetest.Count(msg.N))
				}
				return nil
			}))
			return err
		})})
	if err == nil {
		err = sys.UserGuardian().Tell("begin")
	}
	var l net.Listener
	if err == nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err == nil {
		var n *remote.Node
		if n, err = remote.NewNode(sys, remote.Config{Codecs: remotetest.Codecs(), Timeout: long}); err == nil {
			go func() { // it ends with its parent
				_, _ = io.Copy(io.Discard, os.Stdin)
				os.Exit(0)
			}()
			fmt.Println(l.Addr())
			err = n.Serve(l)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// process is a child that runs.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	address string
	handled chan []uint64 // what it has written, when it is gone
}

func startChild(t *testing.T) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, stdin: in, address: strings.TrimSpace(line), handled: make(chan []uint64, 1)}
	go func() {
		var list []uint64
		var b [8]byte
		for {
			if _, err := io.ReadFull(r, b[:]); err != nil {
				p.handled <- list
				return
			}
			list = append(list, binary.BigEndian.Uint64(b[:]))
		}
	}()
	return p
}

// kill kills it as kill -9 does, and returns what it has handled.
func (p *process) kill(t *testing.T) []uint64 {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	list := <-p.handled
	_ = p.cmd.Wait() // it was killed: that is the error
	_ = p.stdin.Close()
	return list
}

// TestKill kills one of two processes at random moments under load: each message is
// accounted for, each watcher and each asker is told, the process that takes over
// is another one, and nothing is left.
//
//	DYNO_REMOTE_KILLS=40 DYNO_REMOTE_SEED=1 go test ./actor/remote -run TestKill
func TestKill(t *testing.T) {
	kills, seed := fromEnv(t, "DYNO_REMOTE_KILLS", 3), fromEnv(t, "DYNO_REMOTE_SEED", 1)
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	leftovers := goleak.IgnoreCurrent()
	t.Run("moments", func(t *testing.T) {
		a := remotetest.NewHost(t, "a", workstealing.Impl.NewDispatcher(), remote.Config{Window: 512, Timeout: long})
		var before actor.Ref
		for range kills {
			moment := time.Duration(rng.Int64N(int64(300 * time.Millisecond)))
			before = killOnce(t, a, moment, before)
		}
	})
	if err := goleak.Find(leftovers); err != nil {
		t.Error(err)
	}
}

// killOnce starts a process, loads it, kills it at a moment and counts. before is
// an actor of the process before, if there was one.
func killOnce(t *testing.T, a *remotetest.Host, moment time.Duration, before actor.Ref) actor.Ref {
	p := startChild(t)
	ctx := t.Context()
	peer, err := a.Node.Dial(ctx, p.address, nil)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := peer.Find(ctx, "/user/sink")
	for errors.Is(err, remote.ErrNotFound) { // the child's guardian has not got that far
		sink, err = peer.Find(ctx, "/user/sink")
	}
	if err != nil {
		t.Fatal(err)
	}
	if !before.IsZero() {
		if err := before.Tell(remotetest.Count(0)); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("an actor of the process that was killed: %v", err)
		}
		if before == sink || before.Address().Boot == sink.Address().Boot {
			t.Error("the process that has taken over is taken for the old one")
		}
	}

	// Watchers.
	const watchers = 50
	told := make(chan actor.Terminated, 2*watchers)
	var watching sync.WaitGroup
	watching.Add(watchers)
	for range watchers {
		w := a.SpawnFunc(func(ctx *actor.Context, msg any) error {
			if m, ok := msg.(actor.Terminated); ok {
				told <- m
				return nil
			}
			ctx.Watch(sink)
			watching.Done()
			return nil
		})
		if err := w.Tell("begin"); err != nil {
			t.Fatal(err)
		}
	}
	watching.Wait()
	// Load: two senders, and one who asks and has an unanswered question out.
	const senders = 2
	accepted := make([]int, senders)
	var load sync.WaitGroup
	for s := range senders {
		load.Add(1)
		go func() {
			defer load.Done()
			for sink.Tell(remotetest.Count(s)<<40|remotetest.Count(accepted[s])) == nil {
				accepted[s]++
			}
		}()
	}
	ask := func(n uint64) actor.Future {
		return a.Sys.Ask(sink, 0, func(to actor.ReplyTo) any { return remotetest.Question{N: n, ReplyTo: to} })
	}
	load.Add(1)
	go func() {
		defer load.Done()
		silent := ask(0)
		var err error
		for n := uint64(1); err == nil; n++ {
			var m any
			if m, err = ask(n).Wait(context.Background()); err == nil && m != remotetest.Count(n) {
				t.Errorf("question %d is answered %v", n, m)
			}
		}
		for _, e := range []error{err, second(silent.Wait(context.Background()))} {
			if !errors.Is(e, actor.ErrUnreachable) && !errors.Is(e, actor.ErrNoLink) {
				t.Errorf("a question ends with %v", e)
			}
		}
	}()

	time.Sleep(moment) // the moment may be any
	handled := p.kill(t)
	load.Wait()
	<-peer.Done()
	for range watchers {
		if m := <-told; m.Actor != sink || !errors.Is(m.Err, actor.ErrUnreachable) {
			t.Errorf("a watcher is told %v", m)
		}
	}
	if len(told) > 0 {
		t.Errorf("%d watchers are told twice", len(told))
	}

	// What was accepted is confirmed, or a dead letter: the last ones, in order.
	confirmed := append([]int(nil), accepted...)
	for _, l := range a.Letters() {
		m, ok := l.Msg.(remotetest.Count)
		if !ok {
			continue // a question
		}
		if !errors.Is(l.Reason, actor.ErrUnreachable) {
			t.Errorf("message %v is a dead letter for %v", m, l.Reason)
		}
		confirmed[m>>40]--
	}
	// What was handled is a beginning of it, without gaps, and none twice.
	next := make([]int, senders)
	for _, m := range handled {
		s, i := m>>40, int(m&(1<<40-1))
		if next[s] != i {
			t.Fatalf("sender %d: message %d was handled behind %d", s, i, next[s]-1)
		}
		next[s]++
	}
	for s := range senders {
		if next[s] > accepted[s] || confirmed[s] < 0 {
			t.Errorf("sender %d: %d accepted, %d confirmed, %d handled", s, accepted[s], confirmed[s], next[s])
		}
		// Confirmed is what was in the mailbox: that is as long as it may get
		// (remote.Config.Backlog), and what is in it dies with the process.
		if confirmed[s]-next[s] > 2*4096 {
			t.Errorf("sender %d: %d confirmed and not handled: more than a mailbox holds", s, confirmed[s]-next[s])
		}
	}
	t.Logf("moment=%v accepted=%v confirmed=%v handled=%v", moment, accepted, confirmed, next)
	return sink
}

func second(_ any, err error) error { return err }
