package snapshot

// Version is the v of a snapshot file and of its payload; Kind is the file's kind.
const (
	Version = 1
	Kind    = fileKind
)

// FileValue returns an empty value of the file's type, from which the documentation of the format
// is generated.
func FileValue() any { return file{} }
