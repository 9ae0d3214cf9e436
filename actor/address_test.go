package actor_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

func pid(t testing.TB, s string) actor.PID {
	t.Helper()
	p, ok := actor.ParsePID(s)
	if !ok {
		t.Fatalf("ParsePID(%q) failed", s)
	}
	return p
}

// goodAddresses are addresses with the texts they must have.
func goodAddresses(t testing.TB) map[string]actor.Address {
	return map[string]actor.Address{
		"":                                    {},
		"dyno://dyno@5f3a/user#3":             {"dyno", 0x5f3a, "/user", pid(t, "3")},
		"dyno://s@1/user/room/anon-12.4#12.4": {"s", 1, "/user/room/anon-12.4", pid(t, "12.4")},
		"dyno://a%2Fb%23%25%40@ffffffffffffffff/user/%23%25%20%3F%40.~_-#4294967295.4294967295": {
			"a/b#%@", 1<<64 - 1, "/user/#% ?@.~_-", pid(t, "4294967295.4294967295"),
		},
		"dyno://caf%C3%A9@100000000/user/%FF%00/x#128.127": {"café", 1 << 32, "/user/\xff\x00/x", pid(t, "128.127")},
	}
}

func TestAddresses(t *testing.T) {
	for text, a := range goodAddresses(t) {
		got, err := a.MarshalText()
		if err != nil || string(got) != text {
			t.Errorf("the text of %#v is %q, %v, want %q", a, got, err, text)
		}
		if got, err := actor.ParseAddress(text); err != nil || got != a {
			t.Errorf("ParseAddress(%q) = %#v, %v", text, got, err)
		}
		bin, err := a.MarshalBinary()
		var back actor.Address
		if err2 := back.UnmarshalBinary(bin); err != nil || err2 != nil || back != a {
			t.Errorf("%#v comes back from its binary form as %#v, %v, %v", a, back, err, err2)
		}
		if len(bin) > len(text)+6 { // a boot id of one digit has eight bytes
			t.Errorf("%q has %d bytes of text and %d in binary form", text, len(text), len(bin))
		}
		for n := range bin {
			if n == 0 {
				continue // nothing is the zero Address
			}
			if err := back.UnmarshalBinary(bin[:n]); err != actor.ErrBadAddress {
				t.Errorf("the first %d bytes of %x: %v", n, bin, err)
			}
		}
		if back != a {
			t.Errorf("a failed UnmarshalBinary has changed the address to %#v", back)
		}
		if a.System == "dyno" || a.System == "s" { // net/url takes few escapes in a host
			if u, err := url.Parse(text); err != nil || u.User.Username() != a.System || u.Host != strconv.FormatUint(a.Boot, 16) || u.Path != a.Path || u.Fragment != a.PID.String() {
				t.Errorf("as a URL %q is %#v, %v", text, u, err)
			}
		}
	}
	// The form is written down: others may read it.
	a := actor.Address{System: "ab", Boot: 0x0102030405060708, Path: "/user/c", PID: pid(t, "300.1")}
	if got, _ := a.MarshalBinary(); string(got) != "\x02\xac\x02\x01\x01\x02\x03\x04\x05\x06\x07\x08\x02ab\x07/user/c" {
		t.Errorf("the binary form is %q", got)
	}
}

func TestBadAddresses(t *testing.T) {
	for _, text := range []string{
		"dyno", "dyno:", "dyno://", "http://s@1/user#3", "DYNO://s@1/user#3", "dyno://s@1#3", "dyno://s@1/#3", "dyno://@1/user#3",
		"dyno://s@1/user", "dyno://s@1/user#", "dyno://s@1/user#0", "dyno://s@1/user#03", "dyno://s@1/user#3.0", "dyno://s@1/user#3#3",
		"dyno://s@1/user/#3", "dyno://s@1//user#3", "dyno://s@1/user//a#3", "dyno://s@1/a%2Fb#3", "dyno://s@1/%2fb#3", "dyno://s@1/%ff#3",
		"dyno://s@1/%41#3", "dyno://s@1/%4#3", "dyno://s@1/%#3", "dyno://s@1/%GG#3", "dyno://s@1/a b#3", "dyno://s@1/é#3", " dyno://s@1/user#3", "dyno://s@1/user#3 ",
		"dyno://s@1#/user#3", "dyno://s/user#3", "dyno://s@/user#3", "dyno://s@0/user#3", "dyno://s@01/user#3", "dyno://s@A/user#3",
		"dyno://s@1@1/user#3", "dyno://s/user@1#3", "dyno://s/user#@1", "dyno://s@10000000000000000/user#3", "dyno://s@-1/user#3",
	} {
		if a, err := actor.ParseAddress(text); err != actor.ErrBadAddress || !a.IsZero() || a.UnmarshalText([]byte(text)) != err {
			t.Errorf("ParseAddress(%q) = %#v, %v", text, a, err)
		}
	}
	for _, bin := range []string{
		"\x00", "\x02", "\x01\x03\x00B\x01s\x05/user", "\x02\x03\x00B\x01s\x05/user!", "\x02\x83\x00\x00B\x01s\x05/user",
		"\x02\x00\x00B\x01s\x05/user", "\x02\x03\x00B\x00\x05/user", "\x02\x03\x00B\x01s\x01/", "\x02\x03\x00B\x01s\x06/user",
		"\x02\xff\xff\xff\xff\x7f\x00B\x01s\x05/user", "\x02\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00B\x01s\x05/user",
		"\x02\x03\x00B\x01s\xff\xff\xff\xff\x0f/user", "\x02\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01s\x05/user", "\x02\x03\x00\x00\x00",
	} {
		bin = strings.Replace(bin, "B", "bootboot", 1) // any eight bytes but zeros
		var a actor.Address
		if err := a.UnmarshalBinary([]byte(bin)); err != actor.ErrBadAddress || !a.IsZero() {
			t.Errorf("the binary form %q: %#v, %v", bin, a, err)
		}
	}
	for _, a := range []actor.Address{
		{System: "s"}, {Boot: 1, Path: "/a", PID: pid(t, "1")}, {"s", 1, "a", pid(t, "1")}, {"s", 1, "/a", actor.PID{}}, {"s", 0, "/a", pid(t, "1")},
	} {
		if b, err := a.AppendText([]byte("x")); err != actor.ErrBadAddress || string(b) != "x" {
			t.Errorf("the text of %#v is %q, %v", a, b, err)
		}
		if b, err := a.AppendBinary([]byte("x")); err != actor.ErrBadAddress || string(b) != "x" {
			t.Errorf("the binary form of %#v is %q, %v", a, b, err)
		}
		if s := a.String(); s != "bad address" {
			t.Errorf("String of %#v = %q", a, s)
		}
	}
}

// What is an address has one text: the other way round as well.
func FuzzParseAddress(f *testing.F) {
	for text := range goodAddresses(f) {
		f.Add(text)
	}
	f.Add("dyno://s@1/a%2Fb#3")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := actor.ParseAddress(text)
		if err != nil {
			return
		}
		if back, err := a.MarshalText(); err != nil || string(back) != text {
			t.Errorf("%q is the text of %#v, whose text is %q, %v", text, a, back, err)
		}
		bin, err := a.MarshalBinary()
		var back actor.Address
		if err2 := back.UnmarshalBinary(bin); err != nil || err2 != nil || back != a {
			t.Errorf("%#v comes back from its binary form as %#v, %v, %v", a, back, err, err2)
		}
	})
}

func FuzzUnmarshalBinaryAddress(f *testing.F) {
	for _, a := range goodAddresses(f) {
		b, _ := a.MarshalBinary()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, bin []byte) {
		var a actor.Address
		if a.UnmarshalBinary(bin) != nil {
			return
		}
		if back, err := a.MarshalBinary(); err != nil || string(back) != string(bin) {
			t.Errorf("%x is the form of %#v, whose form is %x, %v", bin, a, back, err)
		}
		text, err := a.MarshalText()
		if back, err2 := actor.ParseAddress(string(text)); err != nil || err2 != nil || back != a {
			t.Errorf("%#v comes back from its text as %#v, %v, %v", a, back, err, err2)
		}
	})
}

// Any name makes an address that finds its actor, as long as that has not stopped.
func FuzzNamesHaveAddresses(f *testing.F) {
	for _, name := range []string{"room", "a b", "%41", "#", "\xff", ".."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		h := newHost(t, implsUnderTest[1])
		h.do(func(ctx *actor.Context) {
			r, err := ctx.SpawnNamed(name, actortest.Func(nothing))
			if err != nil {
				return // not a name
			}
			text, err := r.MarshalText()
			must(t, err)
			if got, err := h.System.Resolve(string(text)); err != nil || got != r {
				t.Errorf("Resolve(%q) = %v, %v", text, got, err)
			}
		})
	})
}

func TestResolveLocal(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var named, anon actor.Ref
		h.do(func(ctx *actor.Context) {
			var err error
			named, err = ctx.SpawnNamed("a #1", actortest.Func(nothing))
			must(t, err)
			anon, err = ctx.Spawn(actortest.Func(nothing))
			must(t, err)
		})
		if got := named.Address(); got != (actor.Address{System: "dyno", Boot: h.System.Boot(), Path: "/user/a #1", PID: named.PID()}) {
			t.Errorf("Address = %#v", got)
		}
		for _, r := range []actor.Ref{{}, named, anon, h.System.UserGuardian()} {
			text, err := r.MarshalText()
			must(t, err)
			bin, err := r.MarshalBinary()
			must(t, err)
			if got, err := h.System.Resolve(string(text)); err != nil || got != r {
				t.Errorf("Resolve(%q) = %v, %v, want %v", text, got, err, r)
			}
			if got, err := h.System.ResolveBinary(bin); err != nil || got != r {
				t.Errorf("ResolveBinary(%x) = %v, %v, want %v", bin, got, err, r)
			}
			js, err := json.Marshal(struct{ Who actor.Ref }{r})
			must(t, err)
			var back struct{ Who actor.Address }
			must(t, json.Unmarshal(js, &back))
			if back.Who != r.Address() {
				t.Errorf("%s comes back as %v", js, back.Who)
			}
		}
		a := named.Address()
		here := "dyno://dyno@" + strconv.FormatUint(h.System.Boot(), 16)
		for text, want := range map[string]error{
			here + "/user/other#" + named.PID().String():          actor.ErrUnknown,
			here + "/user#999":                                    actor.ErrUnknown,
			here + "/user":                                        actor.ErrBadAddress,
			"dyno://dyno@1/user/a%20%231#" + named.PID().String(): actor.ErrStopped, // of another system that had the name
			"dyno://elsewhere@1/user#3":                           actor.ErrNoLink,
		} {
			if r, err := h.System.Resolve(text); err != want || !r.IsZero() {
				t.Errorf("Resolve(%q) = %v, %v, want %v", text, r, err, want)
			}
		}
		if _, err := h.System.ResolveBinary([]byte{9}); err != actor.ErrBadAddress {
			t.Errorf("ResolveBinary: %v", err)
		}
		if _, err := h.System.ResolveAddress(actor.Address{System: "dyno"}); err != actor.ErrBadAddress {
			t.Errorf("ResolveAddress: %v", err)
		}
		h.System.Stop(named)
		h.settle()
		h.do(func(ctx *actor.Context) { // the same name, place and path: not the same incarnation
			again, err := ctx.SpawnNamed("a #1", actortest.Func(nothing))
			must(t, err)
			if again.Path() != a.Path {
				t.Errorf("the paths are %q and %q", again.Path(), a.Path)
			}
		})
		if r, err := h.System.ResolveAddress(a); !errors.Is(err, actor.ErrUnknown) || !r.IsZero() {
			t.Errorf("the address of an actor that has stopped: %v, %v", r, err)
		}
		if named.Address() != a {
			t.Error("a stopped actor has another address")
		}
	})
}
