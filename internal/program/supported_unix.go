//go:build unix

package program

// Supported returns an error, which wraps [ErrUnsupported], if this operating system cannot do it.
func Supported() error { return nil }
