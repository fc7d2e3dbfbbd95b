package ports

// Descriptors counts what a process could not open.
type Descriptors interface {
	// OutOfDescriptors returns how many operations of this process failed because it, or the machine,
	// had no file descriptor left. What such an operation was for may exist and be whole.
	OutOfDescriptors() int64
}
