//go:build linux || darwin

package osfs

import "golang.org/x/sys/unix"

// Space is the number of bytes that a user other than root can still write to the filesystem of
// dir.
func Space(dir string) (int64, error) {
	st, err := statfs(dir)
	if err != nil {
		return 0, fail("statfs", ".", err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// statfs describes the filesystem of dir.
func statfs(dir string) (st unix.Statfs_t, err error) {
	err = retry(func() error { return unix.Statfs(dir, &st) })
	return st, err
}
