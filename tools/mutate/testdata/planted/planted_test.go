package planted

import (
	"os"
	"testing"
)

func TestClamp(t *testing.T) {
	if Clamp(3, 5) != 3 || Clamp(7, 5) != 5 { // and not 5 of 5
		t.Fail()
	}
}

func TestRounds(t *testing.T) {
	if n := Rounds(3); n != 3 {
		t.Errorf("%d rounds", n)
	}
}

// TestRed fails if it is asked to.
func TestRed(t *testing.T) {
	if os.Getenv("PLANTED_RED") != "" {
		t.Fail()
	}
}

func TestMost(t *testing.T) {
	if Most != 42 {
		t.Errorf("Most = %d, want 42", Most)
	}
}
