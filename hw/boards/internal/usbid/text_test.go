package usbid

import "testing"

// TestText: the number is what other firmware of the board tells, so that an entry of a
// hardware map stays right.
func TestText(t *testing.T) {
	if got, want := text([]byte{0xE6, 0x60, 0x58, 0x38, 0x83, 0x31, 0xA1, 0x0C}), "E66058388331A10C"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
