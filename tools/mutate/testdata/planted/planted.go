// Package planted has mutants of each outcome.
package planted

// Most is a number.
const Most = 42

// Clamp returns n, or most if n is more.
func Clamp(n, most int) int {
	if n > most {
		n = most
	}
	return n
}

// Rounds counts to n.
func Rounds(n int) (rounds int) {
	for rounds != n {
		rounds++
	}
	return rounds
}
