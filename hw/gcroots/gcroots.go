//go:build tinygo

package gcroots

import "C" // or wrap.c would not be compiled
