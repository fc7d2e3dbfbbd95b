package osfs

import (
	"errors"
	"math"

	"golang.org/x/sys/unix"
)

// nextData is the search of NextData; ok is false for a filesystem that does not report holes. It moves the offset of
// the file, which only Write uses: a file is searched that is read.
func (f *openFile) nextData(at int64) (start, end int64, ok bool) {
	start, err := unix.Seek(f.fd, at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) { // nothing but a hole up to the end
		return math.MaxInt64, math.MaxInt64, true
	}
	if err != nil {
		return 0, 0, false
	}
	end, err = unix.Seek(f.fd, start, unix.SEEK_HOLE)
	return start, end, err == nil && start < end
}
