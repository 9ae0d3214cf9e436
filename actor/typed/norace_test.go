//go:build !race

package typed_test

// poolsDrop says whether a sync.Pool drops what it is given at random.
const poolsDrop = false
