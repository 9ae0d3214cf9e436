//go:build tinygo

// Command gcroots asks whether TinyGo's collector finds an object of which only a
// register knows, one register after the other: all that functions preserve. It prints
// a line for each register whose object's memory was given out again, and at last "end".
package main

/*
#include <stdint.h>
uintptr_t hold(int32_t i, uintptr_t hidden);
int32_t registers(void);
*/
import "C"

import (
	"runtime"
	"unsafe"

	_ "github.com/dynolab/dyno/hw/gcroots"
)

var commit, toolchain string // set by the flags that every image is built with

// mark is what is in an object whose memory was not given out again.
const mark = 0x5AFE0B1E

type object [4]uint32

// other is the last of what is allocated after the collection. All together take the
// places of whatever it has freed.
var other *object

// collect uses no registers of its own, which it would save.
//
//export collect
func collect() {
	runtime.GC()
	refill()
}

//go:noinline
func refill() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for range m.HeapSys / uint64(unsafe.Sizeof(*other)) {
		other = &object{1, 2, 3, 4}
	}
}

// hidden allocates an object in a goroutine that ends, so that no address of it is left
// on this one's stack, and returns the complement of its address, which is none.
func hidden() uintptr {
	c := make(chan uintptr)
	go func() {
		o := &object{mark, mark, mark, mark}
		c <- ^uintptr(unsafe.Pointer(o))
	}()
	h := <-c
	for range 2 { // others run, so that the system forgets that goroutine
		go func() { c <- 0 }()
		<-c
	}
	return h
}

func main() {
	_, _ = commit, toolchain
	for i := range int32(C.registers()) {
		o := (*object)(unsafe.Pointer(^uintptr(C.hold(C.int32_t(i), C.uintptr_t(hidden())))))
		if *o != (object{mark, mark, mark, mark}) {
			println("register", i, "is not looked at")
		}
	}
	println("end")
}
