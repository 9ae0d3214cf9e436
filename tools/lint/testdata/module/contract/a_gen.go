//go:build ignore

package main

import "fmt"

func main() { fmt.Println(); println() }
