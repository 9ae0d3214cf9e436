package child

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a command says is returned, in its folder and environment; what goes wrong is told
// with what it said, or is what ended the context.
func TestSays(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs a shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{nil, {"X=y"}} {
		said, err := Says(t.Context(), dir, env, "/bin/sh", "-c", `echo " $PWD $X "`)
		if want := strings.TrimSpace(dir + " " + strings.TrimPrefix(strings.Join(env, ""), "X=")); said != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", env, said, err, want)
		}
	}
	if _, err := Says(t.Context(), dir, nil, "/bin/sh", "-c", "echo oh >&2; exit 3"); err == nil || !strings.HasSuffix(err.Error(), "in "+dir+": exit status 3\noh") {
		t.Errorf("the error is %v", err)
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Says(ctx, dir, nil, "/bin/sh", "-c", "sleep 60"); !errors.Is(err, why) {
		t.Errorf("after the context's end: %v", err)
	}
}
