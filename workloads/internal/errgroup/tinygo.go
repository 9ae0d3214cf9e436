//go:build tinygo

package errgroup

import "context"

// Group has errgroup's methods, for the references to compile. They cannot be used: a
// board's list of workloads has no references.
type Group struct{}

const unused = "workloads: references are not for boards"

// Go panics.
func (*Group) Go(func() error) { panic(unused) }

// SetLimit panics.
func (*Group) SetLimit(int) { panic(unused) }

// Wait panics.
func (*Group) Wait() error { panic(unused) }

// WithContext panics.
func WithContext(context.Context) (*Group, context.Context) { panic(unused) }
