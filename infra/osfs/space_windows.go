package osfs

import "golang.org/x/sys/windows"

// Space is the number of bytes that the user can still write to the filesystem of dir.
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
