package line

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The check value of CRC-16/CCITT-FALSE, as catalogues of such sums give it.
func TestSum(t *testing.T) {
	if got := Sum(initial, []byte("123456789")); got != 0x29b1 {
		t.Errorf("the sum of 123456789 is %04x, want 29b1", got)
	}
}

func TestAppendAndParse(t *testing.T) {
	for _, test := range []struct {
		seq        uint32
		text, want string // want: "" if that is text
	}{
		{1, "hello", ""},
		{4294967295, "case bench/x 1000", ""},
		{7, "", ""},
		{8, "two  spaces, @ and ö", ""},
		{9, "a stack\n\tof\x00calls\x7f\r\n", "a stack  of?calls?  "},
		{10, strings.Repeat("x", MaxText+5), strings.Repeat("x", MaxText)},
		{11, strings.Repeat("ö", MaxText/2) + "ö", strings.Repeat("ö", MaxText/2)},
		{12, "x" + strings.Repeat("ö", MaxText/2), "x" + strings.Repeat("ö", MaxText/2-1)},
	} {
		want := test.want
		if want == "" {
			want = test.text
		}
		raw := string(Append(nil, test.seq, []byte(test.text)))
		if len(raw) > MaxLine || strings.Count(raw, "\n") != 1 || !strings.HasSuffix(raw, "\n") {
			t.Errorf("line %d is %q", test.seq, raw)
		}
		for _, end := range []string{"", "\r"} {
			seq, text, err := Parse(strings.TrimSuffix(raw, "\n") + end)
			if seq != test.seq || text != want || err != nil {
				t.Errorf("line %d, %q: Parse returned %d, %q, %v", test.seq, raw, seq, text, err)
			}
		}
	}
}

// Frames are what people see, and what recorded transcripts have in them.
func TestAppendIsStable(t *testing.T) {
	const want = "@1 e648 hello\n"
	if got := string(Append(nil, 1, []byte("hello"))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	buf, text := make([]byte, 0, MaxLine), []byte(strings.Repeat("x", MaxText))
	if n := testing.AllocsPerRun(100, func() { Append(buf, 1<<32-1, text) }); n != 0 {
		t.Errorf("%v allocations, want none into a buffer of MaxLine bytes", n)
	}
}

// Whatever single byte of a line is lost, doubled or altered by a bit is noticed, but
// for a letter of the checksum that becomes a capital one.
func TestEveryDamageIsNoticed(t *testing.T) {
	raw := strings.TrimSuffix(string(Append(nil, 42, []byte("result BenchmarkActor/workload=pingpong/impl=serial 1000 312 insns/op"))), "\n")
	check := func(how string, i int, damaged string) {
		if seq, text, err := Parse(damaged); err == nil && !(i >= 4 && i < 8 && strings.EqualFold(raw, damaged)) {
			t.Errorf("byte %d %s: %q is taken for line %d, %q", i, how, damaged, seq, text)
		}
	}
	for i := range len(raw) {
		check("lost", i, raw[:i]+raw[i+1:])
		check("doubled", i, raw[:i+1]+raw[i:])
		for bit := range 8 {
			check("altered", i, raw[:i]+string([]byte{raw[i] ^ 1<<bit})+raw[i+1:])
		}
	}
}

func TestParseErrors(t *testing.T) {
	for raw, want := range map[string]error{
		"":                     ErrNoise,
		"panic: out of memory": ErrNoise,
		" @1 e648 hello":       ErrNoise,
		"@":                    ErrFrame,
		"@1":                   ErrFrame,
		"@1 8c2":               ErrFrame,
		"@1 e648hello":         ErrFrame,
		"@x e648 hello":        ErrFrame,
		"@0 e648 hello":        ErrFrame,
		"@01 e648 hello":       ErrFrame,
		"@+1 e648 hello":       ErrFrame,
		"@4294967296 e648 x":   ErrFrame,
		"@1 8cxe hello":        ErrFrame,
		"@1 e649 hello":        ErrSum,
		"@2 e648 hello":        ErrSum,
		"@1 e648 hallo":        ErrSum,
	} {
		if _, _, err := Parse(raw); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", raw, err, want)
		}
	}
}

// decode feeds what came in pieces of the given sizes, over and over, and returns
// what was found, a line each.
func decode(came string, sizes ...int) (found []string) {
	var d Decoder
	emit := func(e Event) {
		s := e.Kind.String()
		if e.Kind == Text {
			s += " " + itoa(e.Seq)
		}
		if e.Lost > 0 {
			s += " lost " + itoa(e.Lost)
		}
		if e.Restart {
			s += " restart"
		}
		if e.Repeated {
			s += " repeated"
		}
		if (e.Err != nil) != (e.Kind == Corrupt) {
			s += " with an error that does not fit"
		}
		found = append(found, s+": "+e.Text)
	}
	for i := 0; came != ""; i++ {
		n := min(sizes[i%len(sizes)], len(came))
		d.Feed([]byte(came[:n]), emit)
		came = came[n:]
	}
	d.Flush(emit)
	return found
}

func itoa(n uint32) string {
	s := ""
	for ; n > 0 || s == ""; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

// of returns line number seq as it is sent.
func of(seq uint32, text string) string { return string(Append(nil, seq, []byte(text))) }

func TestDecoder(t *testing.T) {
	text := strings.Repeat("x", MaxLine)
	long := fmt.Sprintf("@1 %04x %s\n", Sum(initial, []byte("1 "+text)), text)
	for _, test := range []struct {
		name, came string
		want       []string
	}{
		{
			"all is well", of(1, "hello") + of(2, "end"),
			[]string{"text 1 restart: hello", "text 2: end"},
		},
		{
			"carriage returns", "boot\r\n\r\n" + strings.ReplaceAll(of(1, "hello"), "\n", "\r\n"),
			[]string{"noise: boot", "text 1 restart: hello"},
		},
		{
			"words between", of(1, "a") + "panic: nil\n" + of(2, "b") + "user@example",
			[]string{"text 1 restart: a", "noise: panic: nil", "text 2: b", "noise: user@example"},
		},
		{
			"a line is lost", of(1, "a") + of(4, "d"),
			[]string{"text 1 restart: a", "text 4 lost 2: d"},
		},
		{
			"a line is altered", of(1, "a") + strings.Replace(of(2, "312 insns/op"), "312", "112", 1) + of(3, "c"),
			[]string{"text 1 restart: a", "corrupt: " + strings.TrimSpace(strings.Replace(of(2, "312 insns/op"), "312", "112", 1)), "text 3 lost 1: c"},
		},
		{
			"a line comes twice", of(1, "a") + of(2, "b") + of(2, "b") + of(3, "c"),
			[]string{"text 1 restart: a", "text 2: b", "text 2 repeated: b", "text 3: c"},
		},
		{
			"an earlier line comes again", of(1, "a") + of(2, "b") + of(3, "c") + of(2, "b") + of(4, "d"),
			[]string{"text 1 restart: a", "text 2: b", "text 3: c", "text 2 repeated: b", "text 4: d"},
		},
		{
			"a line of long ago comes again", of(5000, "a") + of(7, "b"),
			[]string{"text 5000: a", "text 7 repeated: b"},
		},
		{
			"the board starts again", of(1, "a") + of(2, "b") + of(1, "a"),
			[]string{"text 1 restart: a", "text 2: b", "text 1 restart: a"},
		},
		{
			"it starts again in the middle of a line", of(1, "a") + of(2, "some text")[:12] + "Boot ROM" + of(1, "a"),
			[]string{"text 1 restart: a", "corrupt: " + of(2, "some text")[:12] + "Boot ROM", "text 1 restart: a"},
		},
		{
			"a line feed is lost", of(1, "a")[:len(of(1, "a"))-1] + of(2, "b"),
			[]string{"text 1 restart: a", "text 2: b"},
		},
		{
			"more behind it", of(1, "a") + strings.TrimSpace(of(2, "b")) + "!\n",
			[]string{"text 1 restart: a", "corrupt: " + strings.TrimSpace(of(2, "b")) + "!"},
		},
		{
			"an @ before what is no number of a line", "@0 is free\n@9 is not\n",
			[]string{"noise: @0 is free", "corrupt: @9 is not"},
		},
		{
			"an @ in the text", of(1, "a @ b") + of(2, "@3 0000 c"),
			[]string{"text 1 restart: a @ b", "text 2: @3 0000 c"},
		},
		{
			"a byte and no line feed before", "x" + of(1, "a"),
			[]string{"noise: x", "text 1 restart: a"},
		},
		{
			"longer than a line", long, []string{"corrupt: " + strings.TrimSpace(long)},
		},
		{
			"twice as long as a line", strings.Repeat("x", 2*MaxLine), []string{"noise: " + strings.Repeat("x", 2*MaxLine)},
		},
		{
			"words and no line feed before", "ready>" + of(1, "a"),
			[]string{"noise: ready>", "text 1 restart: a"},
		},
		{
			"one begins to listen later", of(7, "a") + of(8, "b"),
			[]string{"text 7: a", "text 8: b"},
		},
		{
			"the end is cut off", of(1, "a") + of(2, "result")[:9],
			[]string{"text 1 restart: a", "corrupt: " + of(2, "result")[:9]},
		},
	} {
		for _, sizes := range [][]int{{1}, {1000}, {3, 1, 7}} {
			if got := decode(test.came, sizes...); strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("%s, in pieces of %v:\n%s\nwant\n%s", test.name, sizes, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		}
	}
}

// A line without an end is no reason to collect it for ever.
func TestDecoderBounds(t *testing.T) {
	var d Decoder
	events := 0
	for range 100 {
		d.Feed([]byte(strings.Repeat("x", MaxLine)), func(Event) { events++ })
		if n := len(d.Pending()); n > maxNoise {
			t.Fatalf("%d bytes are kept, want at most %d", n, maxNoise)
		}
	}
	if events != 100*MaxLine/maxNoise && events != 100*MaxLine/maxNoise-1 {
		t.Errorf("%d events", events)
	}
}

// Whatever comes, the decoder gives back all of it, and calls nothing a line that was
// not one.
func TestDecoderOnGarbage(t *testing.T) {
	const s = 5
	rng := rand.New(rand.NewPCG(s, s))
	for i := range 2000 {
		raw := of(1, "hello") + of(2, "result x 1 2 ns/op") + of(3, "end")
		bytes := []byte(raw)
		for range 1 + rng.IntN(4) {
			switch at := rng.IntN(len(bytes)); rng.IntN(3) {
			case 0:
				bytes = append(bytes[:at:at], bytes[at+1:]...)
			case 1:
				bytes[at] ^= 1 << rng.IntN(8)
			case 2:
				bytes = append(bytes[:at:at], append([]byte{byte(rng.Uint32())}, bytes[at:]...)...)
			}
		}
		texts := map[string]bool{"hello": true, "result x 1 2 ns/op": true, "end": true}
		var d Decoder
		check := func(e Event) {
			// A wrong one of 65,536 has a right sum; of these, none.
			if e.Kind == Text && !texts[e.Text] {
				t.Errorf("seed %d, round %d: %q gave line %d, %q", s, i, bytes, e.Seq, e.Text)
			}
		}
		d.Feed(bytes, check)
		d.Flush(check)
	}
}

func TestHello(t *testing.T) {
	h := Hello{
		Board: "cortex-m3-qemu", Chip: "lm3s6965", Clock: 15625000, Unit: "insns", RAM: 65536, Flash: 262144,
		RAMFree: 48000, Emulated: true, Impl: "serial", Toolchain: `tinygo 0.41.0 "x"`, Commit: "",
	}
	const want = `hello dyno-firmware/1 board=cortex-m3-qemu chip=lm3s6965 clock=15625000 unit=insns ram=65536 flash=262144 ram-free=48000 emulated=true impl=serial toolchain="tinygo 0.41.0 \"x\"" commit=""`
	text := string(h.Append(nil))
	if text != want {
		t.Errorf("hello is\n%s\nwant\n%s", text, want)
	}
	if got, err := ParseHello(text); got != h || err != nil {
		t.Errorf("read as %+v, %v", got, err)
	}
	odd := Hello{Board: "a b", Chip: "ü\x7f\\", Clock: 32.768, Toolchain: "\x1f"}
	if text := string(odd.Append(nil)); !strings.Contains(text, `board="a b" chip="\xc3\xbc\x7f\\" clock=32.768 `) {
		t.Errorf("hello is %s", text)
	} else if got, err := ParseHello(text); got != odd || err != nil {
		t.Errorf("read as %+v, %v", got, err)
	}
	if got, err := ParseHello(text + " later=x"); got != h || err != nil {
		t.Errorf("with an unknown key, read as %+v, %v", got, err)
	}
	for text, says := range map[string]string{
		"":                                    "not a hello",
		"hullo dyno-firmware/1":               "not a hello",
		"hello dyno-firmware/2 board=x":       "build and flash its firmware again",
		"hello dyno-firmware/1 board":         "not key=value",
		"hello dyno-firmware/1 =x":            "not key=value",
		"hello dyno-firmware/1 ram=lots":      `ram="lots"`,
		"hello dyno-firmware/1 clock=":        `clock=""`,
		"hello dyno-firmware/1 emulated=2":    `emulated="2"`,
		`hello dyno-firmware/1 toolchain="x`:  "no end",
		`hello dyno-firmware/1 board="x"y=""`: "no end",
	} {
		if _, err := ParseHello(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want an error that says %q", text, err, says)
		}
	}
}

func TestListed(t *testing.T) {
	for _, c := range []Listed{
		{Name: "bench/x", Ops: 1000},
		{Name: "conform/group/y"},
		{Name: "conform/group/z", Skip: "needs Overlap, which serial does not promise"},
	} {
		text := string(c.Append(nil))
		if got, ok := ParseListed(text); got != c || !ok {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, ok, c)
		}
	}
	for _, text := range []string{"", "case", "case x", "case x y", "case x -1", "cases x 1", "case  1", "case x 1 skipped", "case x 1 skipped ", "case x 1 since y"} {
		if got, ok := ParseListed(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestEnd(t *testing.T) {
	for _, e := range []End{
		{Command: "hello", Verdict: OK},
		{Command: "run bench/x", Verdict: Failed},
		{Command: "run bench/x", Verdict: Skipped, Why: "needs more memory"},
	} {
		text := string(e.Append(nil))
		if got, ok := ParseEnd(text, e.Command); got != e || !ok {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, ok, e)
		}
		if _, ok := ParseEnd(text, "run"); ok {
			t.Errorf("%q is taken for the end of run", text)
		}
	}
	for _, text := range []string{"", "end x", "end x ", "end x fine", "end x ok why", "end x skipped", "end x skipped ", "begin x ok"} {
		if got, ok := ParseEnd(text, "x"); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestRequests(t *testing.T) {
	for n, want := range map[uint32]string{0: "run x\n", 7: "7 run x\n", 1<<32 - 1: "4294967295 run x\n"} {
		got := string(AppendCommand(nil, n, "run x"))
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if m, rest := SplitRequest(strings.TrimSuffix(got, "\n")); m != n || rest != "run x" {
			t.Errorf("%q is request %d, %q", got, m, rest)
		}
	}
	for _, text := range []string{"", "7", "x 7", "07 x", "4294967296 x", "-1 x", "1x y", "1-2 y", "1. y"} {
		if n, rest := SplitRequest(text); n != 0 || rest != text {
			t.Errorf("%q is request %d, %q", text, n, rest)
		}
	}
}

// longest finds what Parse finds of all the pieces that may be lines, and takes the sum
// only once for them, since garbage may have hundreds.
func TestLongestIsParse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"@", "@1 ", "@1 e648 hello", "\r", " ", "x", "@4294967295 ", "@42949672950 0000 x", strings.TrimSpace(string(Append(nil, 7, []byte("a@b"))))}
	found := 0
	for range 20_000 {
		raw := "@"
		for range rnd.IntN(8) {
			raw += pieces[rnd.IntN(len(pieces))]
		}
		raw = "@" + strings.TrimLeft(raw, "@")
		var wantSeq uint32
		wantText, wantN := "", 0
		for end := range len(raw) + 1 {
			if end < len(raw) && raw[end] != '@' {
				continue
			}
			if seq, text, err := Parse(raw[:end]); err == nil {
				wantSeq, wantText, wantN = seq, text, end
			}
		}
		seq, text, n := longest(raw)
		if n != wantN || n > 0 && (seq != wantSeq || text != wantText) {
			t.Fatalf("%q: %d, %q, %d bytes, want %d, %q, %d", raw, seq, text, n, wantSeq, wantText, wantN)
		}
		if n > 0 {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("only %d lines found", found)
	}
}
