package read

// OutOfDescriptors implements ports.Descriptors.
func (r *Reader) OutOfDescriptors() int64 { return r.d.OutOfDescriptors() }
