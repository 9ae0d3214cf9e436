package runner

import (
	"context"
	"strconv"

	"github.com/dynolab/dyno/internal/child"
)

// judged is the source of what targets are promised of.
var judged = []string{
	":(top,glob)actor/*.go", ":(top,glob)actor/mailbox/*.go", ":(top,glob)group/*.go", ":(top,glob)task/*.go",
	":(top,glob)internal/queue/*.go", ":(top,glob)impls/**/*.go", ":(top,exclude,glob)**/*_test.go",
}

// CommitsSince returns in how many commits since that one the core, the contracts or an implementation
// have changed. dir is in dyno's checkout; where it is not, or lacks the commit, it returns 0.
func CommitsSince(ctx context.Context, dir, commit string) int {
	if commit == "" {
		return 0
	}
	said, _ := child.Says(ctx, dir, nil, "git", append([]string{"rev-list", "--count", commit + "..HEAD", "--"}, judged...)...)
	n, _ := strconv.Atoi(said)
	return n
}
