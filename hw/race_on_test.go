//go:build race

package hw

const underRace = true
