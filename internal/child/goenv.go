package child

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// goEnvs are what go env has said, by all that it depends on.
var goEnvs sync.Map

// GoEnv returns what go env says in the folder dir, by variable. goTool and env are as for [Says].
// Each question takes a process, and a comparison has dozens: what was asked before, with the same
// go.mod and go.work there and above, is not asked again.
func GoEnv(ctx context.Context, dir string, env []string, goTool string) (map[string]string, error) {
	key := goEnvKey(dir, env, goTool)
	text, asked := goEnvs.Load(key)
	if !asked {
		var err error
		if text, err = Says(ctx, dir, env, goTool, "env", "-json"); err != nil {
			return nil, err
		}
	}
	said := make(map[string]string)
	if err := json.Unmarshal([]byte(text.(string)), &said); err != nil {
		return nil, fmt.Errorf("reading the output of go env: %w", err)
	}
	goEnvs.Store(key, text)
	return said, nil
}

// goEnvKey has all that go env depends on but for files that the environment names.
func goEnvKey(dir string, env []string, goTool string) string {
	if env == nil {
		env = os.Environ()
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	var key strings.Builder
	fmt.Fprintln(&key, goTool, dir, env)
	for above := ""; dir != above; dir, above = filepath.Dir(dir), dir {
		for _, name := range []string{"go.mod", "go.work"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
				fmt.Fprintln(&key, dir, name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return key.String()
}
