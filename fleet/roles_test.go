package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// A server lets keys in that it knows, and each of them do what its role needs, and nothing else.
func TestRoles(t *testing.T) {
	home := t.TempDir()
	server, err := Start(ServerOptions{Home: home, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	owner, err := Connect(Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if err := owner.Found(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, second, sender := Options{Home: t.TempDir(), URL: server.URL}, Options{Home: t.TempDir(), URL: server.URL}, Options{Home: t.TempDir(), URL: server.URL}
	if _, err := Connect(first); err == nil || !strings.Contains(err.Error(), "benchfleet key allow agent|sender U") {
		t.Errorf("a key that the server does not know: %v", err)
	}
	connect := func(o Options, g Grant) *Client {
		key, err := OwnKey(o.Home)
		if err != nil {
			t.Fatal(err)
		}
		g.Key = key.Public
		if err := errors.Join(Allow(home, g), server.Reload()); err != nil {
			t.Fatal(err)
		}
		c, err := Connect(o)
		if err != nil {
			t.Fatalf("%+v is not let in: %v", g, err)
		}
		t.Cleanup(c.Close)
		return c
	}
	clients := map[string]*Client{
		"owner": owner, "one": connect(first, Grant{Role: RoleAgent, Machine: "one"}),
		"two": connect(second, Grant{Role: RoleAgent, Machine: "two"}), "sender": connect(sender, Grant{Role: RoleSender}),
	}
	for name, c := range clients { // answers reach who has asked
		if s, err := c.Stored(t.Context(), "one", someJob); s != nil || err != nil {
			t.Errorf("%s is answered %v, %v", name, s, err)
		}
	}
	everyone := "one two sender"
	publish := map[string]string{
		jobSubject("one", someJob):                                        "sender",
		resultSubject("one", someJob):                                     "one",
		noteSubject("one", someJob):                                       "one",
		"$KV." + machinesBucket + ".one":                                  "one",
		"$KV." + liveBucket + ".one":                                      "one",
		"$KV." + ordersBucket + ".one.drain":                              "sender",
		"$KV." + storedBucket + ".one." + someJob:                         "",
		"$JS.ACK." + jobsStream + ".one.1.1.1.1.0":                        "one",
		"$JS.ACK." + resultsStream + ".collector.1.1.1.1.0":               "",
		"$JS.API.CONSUMER.MSG.NEXT." + jobsStream + ".one":                "one",
		"$JS.API.CONSUMER.DELETE." + jobsStream + ".one":                  "one",
		"$JS.API.CONSUMER.CREATE." + jobsStream + ".one.dyno.job.one.>":   "one",
		"$JS.API.CONSUMER.CREATE." + jobsStream + ".one.dyno.job.two.>":   "",
		"$JS.API.CONSUMER.CREATE." + jobsStream + ".one":                  "",
		"$JS.API.CONSUMER.DURABLE.CREATE." + jobsStream + ".one":          "",
		"$JS.API.CONSUMER.CREATE." + resultsStream + ".x.dyno.result.one": "",
		"$JS.API.STREAM.DELETE." + jobsStream:                             "",
		"$JS.API.STREAM.PURGE." + resultsStream:                           "",
		"$JS.API.STREAM.UPDATE." + jobsStream:                             "",
		"$JS.API.STREAM.MSG.DELETE." + resultsStream:                      "",
		"$JS.API.STREAM.CREATE.mine":                                      "",
		"$JS.API.STREAM.SNAPSHOT." + jobsStream:                           "",
		"$SYS.REQ.SERVER.PING":                                            "",
		"$JS.API.STREAM.INFO." + jobsStream:                               everyone,
		"$O." + partsBucket + ".C.x":                                      everyone,
		inbox(clients["two"].Key.Public) + ".x":                           "",
		"$JS.API.CONSUMER.INFO." + jobsStream + ".one":                    "one",
		"$JS.API.INFO":             everyone,
		"$JS.API.STREAM.MSG.GET.x": everyone,
		"$JS.API.DIRECT.GET.x":     everyone,
		"$JS.FC.x":                 everyone,
		"$JS.API.CONSUMER.CREATE." + partsStream + ".x":   everyone,
		"$JS.API.CONSUMER.DELETE." + partsStream + ".x":   everyone,
		"$JS.API.CONSUMER.DELETE." + resultsStream + ".x": "",
		"$JS.API.STREAM.PURGE." + partsStream:             "",
	}
	for _, bucket := range []string{machinesBucket, liveBucket, ordersBucket, storedBucket} {
		publish["$JS.API.CONSUMER.CREATE.KV_"+bucket+".x"] = everyone
		publish["$JS.API.CONSUMER.DELETE.KV_"+bucket+".x"] = everyone
	}
	for subject, may := range publish {
		for name, c := range clients {
			allowed := permits(t, c, "Publish", subject, func() error { return c.conn.Publish(subject, nil) })
			if want := name == "owner" || strings.Contains(may, name) && may != ""; allowed != want {
				t.Errorf("%s may publish %s: %v, want %v", name, subject, allowed, want)
			}
		}
	}
	for subject, may := range map[string]string{
		"dyno.note.>":                           "sender",
		"dyno.>":                                "",
		">":                                     "",
		inbox(clients["one"].Key.Public) + ".>": "one",
		"_INBOX.>":                              "",
		"$KV." + ordersBucket + ".>":            "",
	} {
		for name, c := range clients {
			allowed := permits(t, c, "Subscription", subject, func() error {
				s, err := c.conn.SubscribeSync(subject)
				if err == nil {
					t.Cleanup(func() { _ = s.Unsubscribe() })
				}
				return err
			})
			if want := name == "owner" || may == name; allowed != want {
				t.Errorf("%s may listen to %s: %v, want %v", name, subject, allowed, want)
			}
		}
	}
	// What the server does not answer for that is not waited for.
	one, times := clients["one"], 0
	err = one.insist(t.Context(), nil, func(context.Context) error {
		times++
		return errors.Join(one.conn.Publish(jobSubject("two", someJob), nil), one.conn.Flush(), nats.ErrTimeout)
	})
	if !errors.Is(err, nats.ErrPermissionViolation) || times != 1 {
		t.Errorf("what is not allowed ends with %v after %d times", err, times)
	}
}

// permits reports whether the server has nothing against what a client does with a subject:
// what is "Publish" or "Subscription".
func permits(t *testing.T, c *Client, what, subject string, do func() error) bool {
	t.Helper()
	// The server says what it has against it before it answers that it has seen it.
	if err := errors.Join(do(), c.conn.Flush()); err != nil {
		t.Fatal(err)
	}
	last := c.conn.LastError() // stays until there is another one
	return last == nil || !strings.Contains(last.Error(), fmt.Sprintf("Permissions Violation for %s to %q", what, subject))
}
