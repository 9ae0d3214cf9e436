package testbin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// For builds subjects that Build has made again into the new folder out, with env, such as GOOS
// and GOARCH of another system, added to the environment. Their layouts are still to be linked.
// Here they cannot be run any more.
func For(ctx context.Context, out string, subjects []Binary, env []string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	builders := make(map[*builder]*builder)
	for i := range subjects {
		s := &subjects[i]
		if s.Prebuilt() {
			return fmt.Errorf("%s was built already, and not for %v: build it for that", s.Path, env)
		}
		b := builders[s.made]
		if b == nil {
			foreign := *s.made
			foreign.options.Env = append(append([]string(nil), foreign.options.Env...), env...)
			if err := foreign.readSettings(ctx); err != nil {
				return err
			}
			foreign.sources = foreign.describe()
			b, builders[s.made] = &foreign, &foreign
		}
		s.made, s.Hash, s.Layouts = b, "", nil
		image, said, err := b.goTest(ctx, *s, filepath.Join(out, "subject"+strconv.Itoa(i)))
		if err != nil {
			return err
		}
		if said != "" {
			return fmt.Errorf("%s does not build for %v: %s", s.Pkg, env, said)
		}
		s.Path, s.Hash = image.Path, image.Hash
		if s.Undrivable == nil {
			if s.Undrivable, err = b.notApplied(s.Path); err != nil {
				return err
			}
		}
	}
	return nil
}
