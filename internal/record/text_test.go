package record

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// What Windows writes is read as what it says: with a byte order mark, in UTF-16 of either
// byte order, with or without one, and joined of several files.
func TestEncodings(t *testing.T) {
	const text = "pkg: e/x\r\nBenchmarkA-8 100 101 ns/op\r\nBenchmarkB/µ-8 100 102 µs/op\r\n"
	in16 := func(order binary.AppendByteOrder, s string) (b []byte) {
		for _, u := range utf16.Encode([]rune(s)) {
			b = order.AppendUint16(b, u)
		}
		return b
	}
	for name, data := range map[string][]byte{
		"plain":                       []byte(text),
		"marked":                      []byte("\ufeff" + text),
		"joined":                      []byte("\ufeffpkg: e/x\n\ufeffBenchmarkA-8 100 101 ns/op\n\ufeffBenchmarkB/µ-8 100 102 µs/op\n"),
		"UTF-16LE, marked":            in16(binary.LittleEndian, "\ufeff"+text),
		"UTF-16BE, marked":            in16(binary.BigEndian, "\ufeff"+text),
		"UTF-16LE":                    in16(binary.LittleEndian, text),
		"UTF-16BE":                    in16(binary.BigEndian, text),
		"UTF-16LE with half a letter": append(in16(binary.LittleEndian, text), 'x'),
	} {
		f := Read("x", data)
		if len(f.Results) != 2 || len(f.Strays)+len(f.Problems) > 0 || f.Results[0].Result.GetConfig("pkg") != "e/x" || string(f.Results[1].Result.Name) != "B/µ-8" {
			t.Errorf("%s: %d results, problems %v, strays %v", name, len(f.Results), f.Problems, f.Strays)
		}
		if why := f.Empty(); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
	for data, want := range map[string]string{
		"": "is empty", " \n": "holds no", "\x7fELF\x02\x01\x00\x00": "is a binary file", "PASS\n": "holds no", "\ufeff": "holds no",
		"# hole: case=BenchmarkX reason=crashed\n": "", "\xff\xfe": "holds no", "\xff\xfe\x00": "is a binary file",
	} {
		if got := Read("x", []byte(data)).Empty(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}
