package osfs

// forceWalk disables openat2 until the returned function is called.
func forceWalk(yes bool) func() {
	noOpenat2.Store(yes)
	return func() { noOpenat2.Store(false) }
}
