package disk

import (
	"bytes"
	"errors"
	"io"

	"github.com/waybill/waybill/infra/osfs"
)

// pageBytes is the unit in which files are searched for data: pages of zeros are not written and not kept.
const pageBytes = 4 << 10

// CopySparse copies a file to a new one of the same length, and returns the number of bytes written. Holes are not read,
// and pages of zeros not written: a file of 10 GB that a broken filesystem left with a hole takes neither the time nor
// the space of 10 GB.
func CopySparse(to, from osfs.File) (written int64, err error) {
	size, end := int64(0), int64(0)
	size, err = eachData(from, 0, func(data []byte, at int64) error {
		n, err := to.WriteAt(data, at)
		written, end = written+int64(n), at+int64(len(data))
		return err
	})
	if err == nil && end < size {
		err = to.Truncate(size)
	}
	return written, err
}

// ReadData reads a file from an offset on, without holes and pages of zeros, and at most limit and one bytes.
func (d *Disk) ReadData(name string, from, limit int64) (b []byte, err error) {
	f, err := d.Open(name, osfs.Read)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = eachData(f, from, func(data []byte, _ int64) error {
		b = append(b, data[:min(int64(len(data)), limit+1-int64(len(b)))]...)
		if int64(len(b)) > limit {
			return io.EOF
		}
		return nil
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b, err
}

// eachData calls do for the parts of a file from an offset on that are not pages of zeros, in order, and returns the
// length of the file. The bytes are valid during the call.
func eachData(f osfs.File, from int64, do func(data []byte, at int64) error) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	buffer := copyBuffers.Get().(*[copyBytes]byte)
	defer copyBuffers.Put(buffer)
	for at := from; at < info.Size; {
		start, end := osfs.NextData(f, at, info.Size)
		for at = start; at < end; {
			part := buffer[:min(copyBytes-at%pageBytes, end-at)]
			n, err := f.ReadAt(part, at)
			if err != nil && (n == 0 || !errors.Is(err, io.EOF)) {
				return info.Size, err
			}
			if err := eachRun(part[:n], at, do); err != nil {
				return info.Size, err
			}
			at += int64(n)
		}
	}
	return info.Size, nil
}

// eachRun calls do for each run of pages that are not zero. The first page begins at the offset at.
func eachRun(part []byte, at int64, do func(data []byte, at int64) error) error {
	for start := 0; start < len(part); {
		end := start
		for end < len(part) {
			next := min(end+pageBytes-int((at+int64(end))%pageBytes), len(part))
			if bytes.Equal(part[end:next], zeroPage[:next-end]) {
				if end > start {
					break
				}
				start = next
			}
			end = next
		}
		if start < end {
			if err := do(part[start:end], at+int64(start)); err != nil {
				return err
			}
		}
		start = end
	}
	return nil
}

// zeroPage is compared with.
var zeroPage [pageBytes]byte
