package record

import "testing"

// A pattern chooses what go test -bench chooses.
func TestMatches(t *testing.T) {
	const name = "BenchmarkHash/size=64/impl=a"
	for pattern, want := range map[string]bool{
		".": true, "": true, "Hash": true, "^Hash": false, "Hash/64": true, "/size=64/impl=(a|b)$": true, "//b": false,
		"Other|Hash": true, "Other/x|Hash//a": true, "Other|Hash/x": false, "Hash/64/a/x": false, "Hash/[/|]": false, "Hash/6[4/]": true,
		`Hash/\/`: false, "[": false,
	} {
		if got := Matches(pattern, name); got != want {
			t.Errorf("%q chooses %s: %t, want %t", pattern, name, got, want)
		}
	}
}
