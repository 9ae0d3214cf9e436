//go:build race

package typed_test

// poolsDrop: a sync.Pool drops what it is given at random.
const poolsDrop = true
