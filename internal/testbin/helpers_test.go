package testbin

import (
	"context"
	"os"
	"testing"

	"github.com/dynolab/dyno/internal/program"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// started is start of a benchmark that is in order.
func started(t testing.TB, name string, more ...func(*program.Config)) *program.Process {
	t.Helper()
	p, err := start(t, name, more...)
	must(t, err)
	return p
}

// goSays runs the go command in the folder dir.
func goSays(ctx context.Context, dir string, args ...string) (string, error) {
	return (&builder{dir: dir}).says(ctx, args...)
}
