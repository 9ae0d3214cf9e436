package fleet

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

var someJob = strings.Repeat("ab", 32)

func newTestKey(t *testing.T) *Key {
	t.Helper()
	key, err := OwnKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A name that is not a word does not become a subject or a path.
func TestNames(t *testing.T) {
	for _, name := range []string{"a", "epyc-1", "0_x", strings.Repeat("a", mostName)} {
		if err := CheckMachine(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "*", ">", "a.b", "a b", "../x", "-rf", "_x", "Epyc", "é", "a\n", "$KV", strings.Repeat("a", mostName+1)} {
		if CheckMachine(name) == nil {
			t.Errorf("%q is taken for a machine", name)
		}
	}
	for host, want := range map[string]string{"Epyc-1.example.com": "epyc-1", "été": "t", "": "machine", "---": "machine", strings.Repeat("x", 99): strings.Repeat("x", mostName)} {
		if got := MachineName(host); got != want || CheckMachine(got) != nil {
			t.Errorf("%q becomes %q, want %q", host, got, want)
		}
	}
	if m, j, err := splitSubject(jobSubject("epyc-1", someJob), "job"); m != "epyc-1" || j != someJob || err != nil {
		t.Error(m, j, err)
	}
	for _, s := range []string{"", "dyno.job.", "dyno.job.a", "dyno.job.a." + someJob[1:], "dyno.result.a." + someJob, "dyno.job.A." + someJob, "dyno.job.a.b." + someJob} {
		if _, _, err := splitSubject(s, "job"); err == nil {
			t.Errorf("%q is taken for an order", s)
		}
	}
}

// Several processes that begin at once have one key, which no other user can read.
func TestOwnKey(t *testing.T) {
	home := filepath.Join(t.TempDir(), "new")
	keys := make([]string, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := OwnKey(home)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = key.Public
		})
	}
	all.Wait()
	for _, k := range keys {
		if k != keys[0] || CheckKey(k) != nil {
			t.Errorf("the keys are %q", keys)
		}
	}
	pair, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"no key", string(seed)} {
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, keyName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OwnKey(other); err == nil {
			t.Errorf("%.6q is taken for a user's key", text)
		}
	}
	own, err := os.ReadFile(filepath.Join(home, keyName))
	if err == nil {
		home := t.TempDir()
		err = os.WriteFile(filepath.Join(home, keyName), append(append([]byte(" "), own...), " \n"...), 0o600)
		if key, err := OwnKey(home); err != nil || key.Public != keys[0] {
			t.Errorf("a key with spaces: %v", err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil || CheckKey(public) == nil {
		t.Errorf("the key of an account is one of a user, %v", err)
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has the mode %v, %v", info.Mode(), err)
	}
	info, err := os.Stat(filepath.Join(home, keyName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key has the mode %v, %v", info.Mode(), err)
	}
}

// An order is what its sender has signed, or it is refused.
func TestOrders(t *testing.T) {
	key, other := newTestKey(t), newTestKey(t)
	o := Order{Job: someJob, Machine: "one", Title: "run .", Expected: time.Minute, At: time.Now().UTC()}
	data, err := key.sign(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Sender = key.Public
	if got, err := readOrder(data); err != nil || got != o {
		t.Fatalf("%+v became %+v, %v", o, got, err)
	}
	signed := func(k *Key, o Order) []byte {
		data, err := k.sign(o)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	another := func(change func(s *signedOrder)) []byte {
		var s signedOrder
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		change(&s)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	pair, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	account := &Key{public, pair} // is of no user
	for name, good := range map[string][]byte{
		"as long as an order may be": append(slices.Clone(data), bytes.Repeat([]byte(" "), mostOrder-len(data))...),
		"a title as long":            signed(key, Order{Job: someJob, Machine: "one", Title: strings.Repeat("x", 1000)}),
	} {
		if _, err := readOrder(good); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, bad := range map[string][]byte{
		"nothing":         nil,
		"no JSON":         []byte("{"),
		"huge":            append(slices.Clone(data), bytes.Repeat([]byte(" "), mostOrder+1-len(data))...),
		"a long title":    signed(key, Order{Job: someJob, Machine: "one", Title: strings.Repeat("x", 1001)}),
		"an account":      signed(account, Order{Job: someJob, Machine: "one"}),
		"no signature":    another(func(s *signedOrder) { s.Signature = nil }),
		"another machine": another(func(s *signedOrder) { s.Order = []byte(strings.Replace(string(s.Order), `"one"`, `"two"`, 1)) }),
		"another sender": another(func(s *signedOrder) {
			s.Order = []byte(strings.Replace(string(s.Order), key.Public, other.Public, 1))
		}),
		"no job":             signed(key, Order{Job: "../x", Machine: "one"}),
		"no machine":         signed(key, Order{Job: someJob, Machine: "*"}),
		"a title that beeps": signed(key, Order{Job: someJob, Machine: "one", Title: "\a"}),
		"a time before now":  signed(key, Order{Job: someJob, Machine: "one", Expected: -1}),
	} {
		if _, err := readOrder(bad); err == nil {
			t.Errorf("%s: it is taken for an order", name)
		}
	}
	// What was signed for another purpose is no order.
	text, _ := json.Marshal(o)
	signature, err := key.pair.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readOrder(another(func(s *signedOrder) { s.Order, s.Signature = text, signature })); err == nil {
		t.Error("a signature for another purpose is one of an order")
	}
}

func FuzzOrder(f *testing.F) {
	key, err := OwnKey(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	data, err := key.sign(Order{Job: someJob, Machine: "one", Title: "run ."})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, err := readOrder(data); err == nil && (CheckMachine(o.Machine) != nil || CheckJob(o.Job) != nil || CheckKey(o.Sender) != nil) {
			t.Errorf("%+v was let through", o)
		}
	})
}

// Machines that others can send to have a sandbox, unless unsafe is said.
func TestSandboxIsAsked(t *testing.T) {
	const local, away = "nats://127.0.0.1:4750", "tls://lab.example:4750"
	for _, c := range []struct {
		name   string
		s      Sandbox
		server string
		allow  []string
		ok     bool
	}{
		{"a fleet of one", Sandbox{Off: true}, local, nil, true},
		{"with the own key named", Sandbox{Off: true}, local, []string{"own"}, true},
		{"others on this machine", Sandbox{Off: true}, local, []string{"other"}, false},
		{"others on this machine, unsafe", Sandbox{Off: true, Unsafe: true}, local, []string{"other"}, true},
		{"others, in a sandbox", Sandbox{}, away, []string{"other"}, true},
		{"elsewhere without a sandbox", Sandbox{Off: true}, away, nil, false},
		{"elsewhere, not encrypted", Sandbox{}, "nats://lab.example:4750", nil, false},
		{"elsewhere, not encrypted, unsafe", Sandbox{Unsafe: true}, "nats://lab.example:4750", nil, true},
	} {
		if err := c.s.check(c.server, "own", c.allow); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What a server lets a key do is in a file that people can read, and no line of it is guessed.
func TestGrants(t *testing.T) {
	home := t.TempDir()
	a, s := newTestKey(t).Public, newTestKey(t).Public
	want := []Grant{{RoleAgent, a, "epyc-1"}, {RoleSender, s, ""}}
	for _, g := range append(want, want[0]) {
		if err := Allow(home, g); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Grants(home)
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, g := range []Grant{{RoleAgent, a, ""}, {RoleAgent, a, "*"}, {RoleSender, s, "x"}, {"root", s, ""}, {RoleSender, "SU" + s, ""}, {RoleOwner, s, "x"}} {
		if Allow(home, g) == nil {
			t.Errorf("%v is granted", g)
		}
	}
	for text, want := range map[string]string{
		"# as people write\n\n owner " + s + "\n": "", "agent " + a + " one two\n": "keys:1: ", "# owner\nowner\n": "keys:2: ", "owner " + s + "\nsender x\n": "keys:2: ",
	} {
		if err := os.WriteFile(filepath.Join(home, grantsName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Grants(home); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && (len(got) != 1 || got[0] != Grant{Role: RoleOwner, Key: s}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Only a limit of one message a subject says that a message is there already.
func TestStoredAlready(t *testing.T) {
	for text, want := range map[string]bool{"maximum messages per subject exceeded": true, "maximum bytes exceeded": false, "message size exceeds maximum allowed": false} {
		if got := isStoredAlready(&jetstream.APIError{ErrorCode: 10077, Description: text}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
