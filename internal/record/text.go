package record

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// byteOrderMark begins files that some programs write; the shell of Windows writes UTF-16
// with it.
const byteOrderMark = "\ufeff"

// decode returns what a file says as UTF-8, without byte order marks at the beginning of
// lines, where they are if files were joined. UTF-16 is known by its mark, or by its first
// two letters, which are ASCII in a results file.
func decode(data []byte) string {
	order := binary.ByteOrder(binary.LittleEndian)
	is16 := len(data) >= 4
	switch {
	case !is16:
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), data[0] != 0 && data[1] == 0 && data[2] != 0 && data[3] == 0:
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}), data[0] == 0 && data[1] != 0 && data[2] == 0 && data[3] != 0:
		order = binary.BigEndian
	default:
		is16 = false
	}
	text := string(data)
	if is16 {
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = order.Uint16(data[2*i:])
		}
		text = string(utf16.Decode(units))
	}
	if !strings.Contains(text, byteOrderMark) {
		return text
	}
	text = strings.TrimPrefix(text, byteOrderMark)
	return strings.ReplaceAll(text, "\n"+byteOrderMark, "\n")
}

// Empty says what a file is of which there is nothing to compare; "" if there is a result in
// it, or what became of one.
func (f *File) Empty() string {
	switch {
	case len(f.Results)+len(f.Holes)+len(f.Clauses) > 0:
		return ""
	case f.size == 0:
		return "is empty"
	case f.binary:
		return "is a binary file, and no benchmark results"
	}
	return `holds no benchmark results, lines such as "BenchmarkX-8  100  52.1 ns/op"`
}
