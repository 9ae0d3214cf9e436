//go:build x

package sw

const On = true

func twice() {
	type a int // want `switch has two types a within functions, the other in switch/off.go:8`
	println()  // want `switch may not use println`
}
