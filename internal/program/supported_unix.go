//go:build unix

package program

import "os"

// Supported returns an error, which wraps [ErrUnsupported], if this operating system cannot do it.
func Supported() error { return nil }

// mayExecute reports whether anyone may execute the file.
func mayExecute(info os.FileInfo) bool { return info.Mode()&0o111 != 0 }
