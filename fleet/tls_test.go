package fleet_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/fleet"
)

// A fleet that others reach: a machine and a sender, each with a key of its own and the server's
// certificate. What the machine's user has not allowed, it does not carry out.
func TestTLS(t *testing.T) {
	if _, err := fleet.Start(fleet.ServerOptions{Home: t.TempDir(), Listen: "0.0.0.0:0"}); err == nil || !strings.Contains(err.Error(), "--cert") {
		t.Errorf("a server that others reach without a certificate: %v", err)
	}
	home := t.TempDir()
	cert, key, err := fleet.MakeCertificate(home, []string{"127.0.0.1", "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, fleet.ServerOptions{Home: home, Listen: "127.0.0.1:0", Cert: cert, Key: key})
	l.collect()
	if !strings.HasPrefix(l.server.URL, "tls://") {
		t.Errorf("it listens at %s", l.server.URL)
	}
	at := fleet.Options{Home: t.TempDir(), URL: l.server.URL, CA: cert}
	allowed, refused, machine := user(t, at), user(t, at), user(t, at)
	l.letIn(fleet.Grant{Role: fleet.RoleSender, Key: allowed.key}, fleet.Grant{Role: fleet.RoleSender, Key: refused.key},
		fleet.Grant{Role: fleet.RoleAgent, Key: machine.key, Machine: "one"})

	for name, o := range map[string]fleet.Options{
		"without the certificate":            {Home: allowed.Home, URL: at.URL},
		"with another certificate":           {Home: allowed.Home, URL: at.URL, CA: anotherCertificate(t)},
		"under a name that it does not have": {Home: allowed.Home, URL: strings.Replace(at.URL, "127.0.0.1", "127.0.0.2", 1), CA: cert},
		"a key that was not let in":          user(t, at).Options,
	} {
		if c, err := fleet.Connect(o); err == nil {
			c.Close()
			t.Errorf("%s: there is a connection", name)
		}
	}

	agent := bare("one")
	agent.Options, agent.Allow, agent.Sandbox.Unsafe = machine.Options, []string{allowed.key}, true
	l.join(agent)
	l.client = connect(t, allowed.Options)
	folder := newJob(t, 1, 1, "X")
	if s := l.wait("one", l.submit(folder, "one")); s.Outcome != fleet.Done {
		t.Errorf("%+v", s)
	} else if err := l.client.Fetch(t.Context(), s, filepath.Join(t.TempDir(), "r.bench")); err != nil {
		t.Error(err)
	}

	l.client = connect(t, refused.Options)
	folder = newJob(t, 1, 2, "X")
	for said := ""; said == ""; {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := l.client.Wait(ctx, "one", l.submit(folder, "one"), func(text string) { said = text; cancel() })
		cancel()
		switch {
		case errors.Is(err, fleet.ErrForgotten) && said == "": // it was refused before there was a listener
		case !strings.Contains(said, "refused: one does not carry out what "+refused.key+" sends"):
			t.Fatalf("its sender is told %q, %v", said, err)
		}
	}
	l.until("empty", func(s *fleet.Status) bool { return len(s.Machines) == 1 && len(s.Machines[0].Queue) == 0 })
	if strings.Contains(l.said.String(), ": run X 2\n") {
		t.Error("it was carried out")
	}
	if _, err := connect(t, machine.Options).Submit(t.Context(), folder, "one", nil); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("an agent sends a job: %v", err)
	}
}

// someone is a user with a folder and a key.
type someone struct {
	fleet.Options
	key string
}

func user(t *testing.T, at fleet.Options) someone {
	t.Helper()
	at.Home = t.TempDir()
	key, err := fleet.OwnKey(at.Home)
	if err != nil {
		t.Fatal(err)
	}
	return someone{at, key.Public}
}

// letIn lets keys in to the server while it runs.
func (l *lab) letIn(all ...fleet.Grant) {
	l.t.Helper()
	var err error
	for _, g := range all {
		err = errors.Join(err, fleet.Allow(l.home, g))
	}
	if err := errors.Join(err, l.server.Reload()); err != nil {
		l.t.Fatal(err)
	}
}

func connect(t *testing.T, o fleet.Options) *fleet.Client {
	t.Helper()
	c, err := fleet.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func anotherCertificate(t *testing.T) string {
	t.Helper()
	cert, _, err := fleet.MakeCertificate(t.TempDir(), []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
