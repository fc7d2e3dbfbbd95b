package osfs

import "golang.org/x/sys/windows"

// Space is how many bytes of the filesystem that a folder lies on its user can still
// write.
func Space(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, fail("statfs", ".", err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fail("statfs", ".", err)
	}
	return int64(min(free, 1<<62)), nil
}
