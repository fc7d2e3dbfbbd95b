package osfs

// NextData returns the next part of a file of a size, from an offset on, that is not a hole; start is size when there is
// none. Where the platform or the filesystem does not report holes, it is all the rest.
// A file with the method Unwrap is searched in the file that it wraps.
func NextData(f File, at, size int64) (start, end int64) {
	for {
		wrapper, ok := f.(interface{ Unwrap() File })
		if !ok {
			break
		}
		f = wrapper.Unwrap()
	}
	if f, ok := f.(interface {
		nextData(at int64) (start, end int64, ok bool)
	}); ok {
		if start, end, ok := f.nextData(at); ok {
			return min(start, size), min(end, size)
		}
	}
	return at, size
}
