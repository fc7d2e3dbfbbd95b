package snapshot

// What every snapshot file says of itself: the v of the file and of its payload, and
// the file's kind.
const (
	Version = 1
	Kind    = fileKind
)

// Shape is the file's type with nothing in it, for whoever describes the format.
func Shape() any { return file{} }
