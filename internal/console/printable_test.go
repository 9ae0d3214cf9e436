package console

import "testing"

// What a board prints reaches no terminal as a command.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"result 312 insns/op – ±5 µ":  "result 312 insns/op – ±5 µ",
		"two\n\tlines":                "two\n\tlines",
		"\x1b]0;title\a\x1b[2Jx":      `\x1b]0;title\a\x1b[2Jx`,
		"over\rwritten\b\x00\x7f":     `over\rwritten\b\x00\x7f`,
		"one byte \x9b or two \u009b": `one byte \x9b or two \u009b`,
		"\xff\xc3":                    `\xff\xc3`,
		"back\u202ewards":             `back\u202ewards`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
