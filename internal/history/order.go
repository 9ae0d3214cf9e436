package history

import (
	"context"
	"strings"

	"github.com/dynolab/dyno/internal/child"
)

// CommitOrder returns the place of each commit that led to what is checked out in dir, the
// first one first; nil if that is no repository.
func CommitOrder(ctx context.Context, dir string) map[string]int {
	said, err := child.Says(ctx, dir, nil, "git", "rev-list", "--topo-order", "--reverse", "HEAD")
	if err != nil {
		return nil
	}
	order := make(map[string]int)
	for i, commit := range strings.Fields(said) {
		order[commit] = i
	}
	return order
}
