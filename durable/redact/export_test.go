package redact

// Looks is how many bytes are looked at to redact s.
func Looks(s string) (n int) {
	looks = &n
	defer func() { looks = nil }()
	Text(s, nil)
	return n
}
