package redact

// Looks returns how many bytes are read to redact s.
func Looks(s string) (n int) {
	readCount = &n
	defer func() { readCount = nil }()
	Text(s, nil)
	return n
}
