package jobs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isLine reports whether s is text without a line's end or anything else that a terminal
// would obey.
func isLine(s string) bool {
	return len(s) <= mostText && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// isPath reports whether s is a line without spaces that is not empty, as import paths and
// names of benchmarks are.
func isPath(s string) bool {
	return s != "" && isLine(s) && !strings.ContainsFunc(s, unicode.IsSpace)
}

// isWord reports whether s has nothing but letters, digits and hyphens, as names of
// platforms and sides do.
func isWord(s string) bool { return s != "" && len(s) <= 64 && strings.Trim(s, letters+"-") == "" }

// isKey reports whether s can be the key of a configuration line: these begin with a
// lower-case letter, and have neither upper-case letters nor spaces. Environment variables
// and files give them their names, so they may have an underscore or a dot.
func isKey(s string) bool {
	return isFileName(s) && s[0] >= 'a' && s[0] <= 'z' && s == strings.ToLower(s)
}

// isFileName reports whether s is a name that every system takes for a file.
func isFileName(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' && s[0] != '-' && strings.Trim(s, letters+"-_.+") == ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
