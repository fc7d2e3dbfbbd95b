package osfs

// stepByStep leaves openat2 out until the returned function is called.
func stepByStep(yes bool) func() {
	noOpenat2.Store(yes)
	return func() { noOpenat2.Store(false) }
}
