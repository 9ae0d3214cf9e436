package record

import (
	"fmt"
	"strconv"
	"strings"
)

// formatFields returns "key=value key=value …" of pairs of a key and a value, but for those
// without a value. A value that may have spaces has to be quoted.
func formatFields(pairs ...string) string {
	var fields []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fields = append(fields, pairs[i]+"="+pairs[i+1])
		}
	}
	return strings.Join(fields, " ")
}

// quoteSome quotes s, if that is not empty.
func quoteSome(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

// ParseFields reads "key=value key=value …". A value is a word or a quoted Go
// string. The last value of a key wins.
func ParseFields(s string) (map[string]string, error) {
	fields := make(map[string]string)
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return fields, nil
		}
		key, rest, ok := strings.Cut(s, "=")
		if !ok || key == "" || strings.ContainsAny(key, " \t\"") {
			return nil, fmt.Errorf("expected key=value at %q", s)
		}
		if !strings.HasPrefix(rest, `"`) {
			end := strings.IndexAny(rest, " \t")
			if end < 0 {
				end = len(rest)
			}
			fields[key], s = rest[:end], rest[end:]
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("the quoted value of %s does not end", key)
		}
		s = rest[len(quoted):]
		if s != "" && s[0] != ' ' && s[0] != '\t' {
			return nil, fmt.Errorf("no space after the value of %s", key)
		}
		fields[key], _ = strconv.Unquote(quoted) // which is quoted well
	}
}
