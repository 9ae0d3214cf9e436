package fleet

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// The roles that a key may have on a server.
const (
	RoleOwner  = "owner"  // may do everything
	RoleAgent  = "agent"  // may carry out what one machine is sent
	RoleSender = "sender" // may send jobs, fetch results, and drain
)

// A Grant gives a key a role.
type Grant struct {
	Role    string
	Key     string
	Machine string // of an agent
}

// grantsName is the file with the grants of a server, a line each: a role, a public key, and
// of an agent its machine.
const grantsName = "keys"

// Allow adds a grant to those of the server whose folder home is.
func Allow(home string, g Grant) error {
	if err := g.check(); err != nil {
		return err
	}
	all, err := Grants(home)
	if err != nil || slices.Contains(all, g) {
		return err
	}
	f, err := os.OpenFile(filepath.Join(home, grantsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, strings.TrimSpace(g.Role+" "+g.Key+" "+g.Machine))
	return errors.Join(err, f.Sync(), f.Close())
}

// check returns an error for what cannot be granted.
func (g Grant) check() error {
	if err := CheckKey(g.Key); err != nil {
		return err
	}
	switch g.Role {
	case RoleAgent:
		return CheckMachine(g.Machine)
	case RoleOwner, RoleSender:
		if g.Machine != "" {
			return fmt.Errorf("the role %s is for no machine", g.Role)
		}
		return nil
	}
	return fmt.Errorf("the role is %q; it must be one of %s, %s, %s", g.Role, RoleAgent, RoleSender, RoleOwner)
}

// Grants returns the grants of the server whose folder home is.
func Grants(home string) (all []Grant, err error) {
	f, err := os.Open(filepath.Join(home, grantsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		g := Grant{Role: words[0]}
		if len(words) > 1 {
			g.Key = words[1]
		}
		if len(words) > 2 {
			g.Machine = words[2]
		}
		if err := g.check(); err != nil || len(words) > 3 {
			return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, errors.Join(err, tooMany(len(words) > 3)))
		}
		all = append(all, g)
	}
	return all, lines.Err()
}

func tooMany(yes bool) error {
	if yes {
		return errors.New("more than a role, a key and a machine")
	}
	return nil
}

// inbox is where answers to a key's requests go: no other key may read there.
func inbox(key string) string { return "_INBOX_" + key }

// permissions are what a grant allows on the server; nil is everything.
func (g Grant) permissions() *server.Permissions {
	read := []string{ // of jobs, results and what machines do: all who are let in may read it
		"$JS.API.INFO", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>", "$JS.FC.>",
		"$JS.API.CONSUMER.CREATE.OBJ_" + partsBucket + ".>", "$JS.API.CONSUMER.DELETE.OBJ_" + partsBucket + ".*", "$O." + partsBucket + ".>",
	}
	for _, bucket := range []string{machinesBucket, liveBucket, ordersBucket, storedBucket} {
		read = append(read, "$JS.API.CONSUMER.CREATE.KV_"+bucket+".>", "$JS.API.CONSUMER.DELETE.KV_"+bucket+".*")
	}
	listen := []string{inbox(g.Key) + ".>"}
	switch m := g.Machine; g.Role {
	case RoleOwner:
		return nil
	case RoleAgent:
		read = append(read, "dyno.result."+m+".>", "dyno.note."+m+".>", "$KV."+machinesBucket+"."+m, "$KV."+liveBucket+"."+m,
			"$JS.API.CONSUMER.CREATE."+jobsStream+"."+m+".dyno.job."+m+".>", "$JS.API.CONSUMER.INFO."+jobsStream+"."+m, "$JS.API.CONSUMER.DELETE."+jobsStream+"."+m,
			"$JS.API.CONSUMER.MSG.NEXT."+jobsStream+"."+m, "$JS.ACK."+jobsStream+"."+m+".>")
	case RoleSender:
		read = append(read, "dyno.job.>", "$KV."+ordersBucket+".>")
		listen = append(listen, "dyno.note.>")
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: read},
		Subscribe: &server.SubjectPermission{Allow: listen},
	}
}
