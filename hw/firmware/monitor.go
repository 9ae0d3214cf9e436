package firmware

import (
	"runtime"
	"strconv"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/measure"
)

// Main is the program: it says hello and carries out commands. It returns only when
// b has an Exit that returns and the host has said quit, or is gone; on a board it does not.
func Main(b Board, impl dyno.Impl, build Build, parts ...Cases) {
	m := &monitor{board: &b, impl: impl, build: build, parts: parts}
	m.hello()
	for {
		switch cmd, what := m.command(); {
		case what == gone:
			if b.Exit != nil {
				b.Exit(0)
				return
			}
			m.idle() // the next monitor may use the port again
		case what == tooLong:
			m.begin("fail ")
			m.add("a command of more than " + strconv.Itoa(maxCommand) + " bytes was ignored: a line feed is missing, or that is no command")
			m.send()
		case m.carryOut(cmd):
			b.Exit(0)
			return
		}
	}
}

// maxCommand is the most bytes of a command: the longest names of cases have some 70.
const maxCommand = 200

// monitor is the program's state. It belongs to one goroutine.
type monitor struct {
	board *Board
	impl  dyno.Impl
	build Build
	parts []Cases

	// Of what is sent.
	seq     uint32 // of the last line
	request uint32 // number of the request that is being answered; 0: none
	text    []byte // of the line that is being made
	frame   []byte

	// Of what is received.
	in   [maxCommand]byte
	n    int  // bytes of in
	skip bool // the rest of the line is not to be read: it is too long

	last uint32 // number of the last request; 0 if it had none
}

// begin begins a line.
func (m *monitor) begin(text string) {
	m.text = m.text[:0]
	if m.request > 0 {
		m.text = append(strconv.AppendUint(m.text, uint64(m.request), 10), ' ')
	}
	m.text = append(m.text, text...)
}

// add adds text to the line.
func (m *monitor) add(text string) { m.text = append(m.text, text...) }

// send sends the line. When the buffers have grown to the longest line it allocates
// nothing, since it is called within what others measure the memory of.
func (m *monitor) send() {
	m.seq++
	m.frame = line.Append(m.frame[:0], m.seq, m.text)
	m.board.Port.Write(m.frame)
}

// hello says who the board is.
func (m *monitor) hello() {
	b := m.board
	h := line.Hello{
		Board: b.Name, Chip: b.Chip,
		Clock: b.Clock.Hz(), Unit: b.Clock.Unit(),
		RAM: b.RAM, Flash: b.Flash, RAMFree: int(measure.HeapFree()),
		Emulated: b.Emulated,
		Impl:     m.impl.Name, Toolchain: m.build.Toolchain, Commit: m.build.Commit,
	}
	m.begin("")
	m.text = h.Append(m.text)
	m.send()
}

// received says what came from the host.
type received uint8

const (
	whole   received = iota // a line
	tooLong                 // a line of more than maxCommand bytes
	gone                    // the host has gone, maybe in the middle of a line
)

// command waits for the next command and returns it without spaces around it.
func (m *monitor) command() (string, received) {
	for {
		b, ok := m.board.Port.Poll()
		switch {
		case !ok && m.board.Port.Closed():
			m.n, m.skip = 0, false // half a command is none
			return "", gone
		case !ok:
			m.idle()
		case b == '\n' || b == '\r': // so CR LF is a line and an empty one
			cmd, long := trim(m.in[:m.n]), m.skip
			m.n, m.skip = 0, false
			switch {
			case long:
				return "", tooLong
			case len(cmd) > 0:
				return string(cmd), whole
			}
		case m.n == len(m.in):
			m.skip = true
		default:
			m.in[m.n] = b
			m.n++
		}
	}
}

// trim returns p without spaces and bytes that are no text around it: a line that is
// plugged in, or a board that is switched on, may cause some.
func trim(p []byte) []byte {
	text := func(b byte) bool { return b > ' ' && b < 0x7f }
	for len(p) > 0 && !text(p[0]) {
		p = p[1:]
	}
	for len(p) > 0 && !text(p[len(p)-1]) {
		p = p[:len(p)-1]
	}
	return p
}

// looksPerSecond is how often the port is looked at when nothing comes. At 115,200
// baud 6 bytes come meanwhile, which is less than the smallest queue of a serial
// port has room for.
const looksPerSecond = 2000

// idle lets some time pass.
func (m *monitor) idle() {
	runtime.Gosched() // what a case has left behind may still have to end
	if m.board.Wait != nil {
		m.board.Wait(max(1, int64(m.board.Clock.Hz())/looksPerSecond))
	}
}

// carryOut carries out a command and reports whether it was to end the program.
func (m *monitor) carryOut(cmd string) (exit bool) {
	n, cmd := line.SplitRequest(cmd)
	m.request = n
	again := n > 0 && n == m.last
	m.last = n
	defer func() { m.request = 0 }()

	verb, arg := cmd, ""
	for i := range len(cmd) {
		if cmd[i] == ' ' {
			verb, arg = cmd[:i], string(trim([]byte(cmd[i:])))
			break
		}
	}
	echo := cmd
	if !isText(cmd) {
		echo = string(line.AppendQuoted(nil, cmd))
	}
	m.begin(line.BeginPrefix)
	m.add(echo)
	m.send()

	e := line.End{Command: echo}
	switch {
	case again:
		e.Verdict, e.Why = line.Skipped, "a request of this number was the one before: give another number to have it done again"
	case verb == "run" && arg != "":
		e.Verdict, e.Why = m.run(arg)
	case arg != "":
		m.fail("no such command: want hello, list, run <case>, reset or quit")
		e.Verdict = line.Failed
	case verb == "hello":
		m.hello()
	case verb == "list":
		m.list()
	case verb == "reset":
		if m.board.Reset == nil {
			e.Verdict, e.Why = line.Skipped, "this board is reset by its host: end the program and start it again"
			break
		}
		m.end(&e)
		m.board.Reset()
		return false
	case verb == "quit":
		if m.board.Exit == nil {
			e.Verdict, e.Why = line.Skipped, "the program of this board has no end"
			break
		}
		exit = true
	default:
		m.fail("no such command: want hello, list, run <case>, reset or quit")
		e.Verdict = line.Failed
	}
	m.end(&e)
	return exit
}

func isText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func (m *monitor) end(e *line.End) {
	m.begin("")
	m.text = e.Append(m.text)
	m.send()
}

func (m *monitor) fail(why string) {
	m.begin(line.FailPrefix)
	m.add(why)
	m.send()
}

// list sends the list of cases.
func (m *monitor) list() {
	for _, cases := range m.parts {
		for c := range cases {
			l := line.Listed{Name: c.Part + "/" + c.Name, Ops: c.Ops, Skip: c.skip(m.board)}
			m.begin("")
			m.text = l.Append(m.text)
			m.send()
		}
	}
}

func (c *Case) skip(b *Board) string {
	if c.Skip == nil {
		return ""
	}
	return c.Skip(b)
}

// run runs the case of that name.
func (m *monitor) run(name string) (line.Verdict, string) {
	for _, cases := range m.parts {
		for c := range cases {
			if !c.is(name) {
				continue
			}
			if why := c.skip(m.board); why != "" {
				return line.Skipped, why
			}
			runtime.GC() // so that a case finds the memory it would find alone
			if m.board.Align != nil {
				m.board.Align()
			}
			err := m.try(c.Run)
			runtime.GC()
			if err != "" {
				m.fail(err)
				return line.Failed, ""
			}
			return line.OK, ""
		}
	}
	m.fail("no such case: list shows those there are")
	return line.Failed, ""
}

// try runs a case and returns why it has failed, or "". A panic is a failure where
// the platform can recover from it; elsewhere it ends the program with the runtime's own words.
func (m *monitor) try(run func(*Report) error) (why string) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		why = "panicked: " + string(appendPart(nil, v))
	}()
	err := run(&Report{Board: m.board, Impl: m.impl, m: m})
	returned = true
	if err == nil {
		return ""
	}
	if why = err.Error(); why == "" {
		why = "an error without a text"
	}
	return why
}
