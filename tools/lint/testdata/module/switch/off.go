//go:build !x

package sw

const On = false

func twice() {
	type a string
}
