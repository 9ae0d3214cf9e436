package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nkeys"

	"github.com/dynolab/dyno/internal/jobs"
)

// HomeEnv is the environment variable that names another folder than the user's for keys and
// data.
const HomeEnv = "BENCHFLEET_HOME"

// Home returns the folder for keys and data of this user.
func Home() (string, error) {
	if dir := os.Getenv(HomeEnv); dir != "" {
		return dir, nil
	}
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "benchfleet"), err
}

// A Key is an ed25519 key as NATS has them: its holder proves to be who it is, and signs
// orders.
type Key struct {
	Public string
	pair   nkeys.KeyPair
}

// keyName is the file with the user's own key.
const keyName = "own.key"

// OwnKey returns the key of the user whose folder home is. It makes one if there is none.
func OwnKey(home string) (*Key, error) {
	path := filepath.Join(home, keyName)
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if seed, err = newKey(path); errors.Is(err, fs.ErrExist) {
			seed, err = os.ReadFile(path) // of another process, which was faster
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key of this user: %w", err)
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return nil, fmt.Errorf("%s is not a key: %w", path, err)
	}
	public, err := pair.PublicKey()
	if err == nil && !nkeys.IsValidPublicUserKey(public) {
		err = fmt.Errorf("%s is a key of another kind", path)
	}
	return &Key{public, pair}, err
}

// newKey makes a key that no other user can read. The file is there whole or not at all.
func newKey(path string) (seed []byte, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	if seed, err = pair.Seed(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "key-") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(append(seed, '\n'))
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return nil, err
	}
	return seed, os.Link(temp.Name(), path)
}

// CheckKey returns an error if s is not what Key.Public is.
func CheckKey(s string) error {
	if !nkeys.IsValidPublicUserKey(s) {
		return fmt.Errorf("%.80q is not a public key: benchfleet key shows it, and it begins with U", s)
	}
	return nil
}

// An Order asks one machine to carry a job out. The sender signs all of it.
type Order struct {
	Job      string        `json:"job"` // jobs.ID
	Machine  string        `json:"machine"`
	Title    string        `json:"title"`
	Expected time.Duration `json:"expected"`
	At       time.Time     `json:"at"` // by the sender's clock: for display
	Sender   string        `json:"sender"`
}

// A signedOrder is what travels: the order as it was signed, byte for byte.
type signedOrder struct {
	Order     json.RawMessage `json:"order"`
	Signature []byte          `json:"signature"`
}

// signedFor is put in front of what is signed, so that no signature for another purpose, such
// as that of logging in, is one of an order.
const signedFor = "dyno order 1\n"

// sign returns o as it travels.
func (k *Key) sign(o Order) ([]byte, error) {
	o.Sender = k.Public
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	signature, err := k.pair.Sign(append([]byte(signedFor), text...))
	if err != nil {
		return nil, err
	}
	return json.Marshal(signedOrder{text, signature})
}

// mostOrder bounds an order.
const mostOrder = 64 << 10

// readOrder reads an order of an unknown sender, and checks that it is signed by its
// Sender. Whether that one may send anything is for allowed.
func readOrder(data []byte) (o Order, err error) {
	if len(data) > mostOrder {
		return o, fmt.Errorf("an order of %d bytes", len(data))
	}
	var s signedOrder
	if err := json.Unmarshal(data, &s); err != nil {
		return o, fmt.Errorf("an order that cannot be read: %w", err)
	}
	if err := json.Unmarshal(s.Order, &o); err != nil {
		return o, fmt.Errorf("an order that cannot be read: %w", err)
	}
	pair, err := nkeys.FromPublicKey(o.Sender)
	if err == nil && !nkeys.IsValidPublicUserKey(o.Sender) {
		err = errors.New("the key is of another kind")
	}
	if err == nil {
		err = pair.Verify(append([]byte(signedFor), s.Order...), s.Signature)
	}
	switch {
	case err != nil:
		return o, fmt.Errorf("an order that its sender has not signed: %w", err)
	case !jobs.IsID(o.Job):
		return o, fmt.Errorf("an order for %.80q, which is not a job", o.Job)
	case CheckMachine(o.Machine) != nil:
		return o, CheckMachine(o.Machine)
	case o.Expected < 0 || len(o.Title) > 1000 || strings.ContainsFunc(o.Title, unicode.IsControl):
		return o, errors.New("an order whose title cannot be shown")
	}
	return o, nil
}
