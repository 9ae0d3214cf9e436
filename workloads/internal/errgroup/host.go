//go:build !tinygo

package errgroup

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Group is errgroup's.
type Group = errgroup.Group

// WithContext is errgroup's.
func WithContext(ctx context.Context) (*Group, context.Context) { return errgroup.WithContext(ctx) }
