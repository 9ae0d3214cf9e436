package usbid

// text returns id in hexadecimal digits, upper case as other firmware of such boards
// has it.
func text(id []byte) string {
	const digits = "0123456789ABCDEF"
	s := make([]byte, 0, 2*len(id))
	for _, b := range id {
		s = append(s, digits[b>>4], digits[b&15])
	}
	return string(s)
}
