//go:build linux || darwin

package osfs

import "golang.org/x/sys/unix"

// Space is the number of bytes that a user other than root can still write to the filesystem of
// dir.
func Space(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return 0, fail("statfs", ".", err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
