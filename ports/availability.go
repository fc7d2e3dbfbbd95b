package ports

// Availability counts what a process could not open or reach.
type Availability interface {
	// Failures returns how many operations of this process failed for a reason that says nothing about what they were for: it may
	// exist and be whole.
	Failures() Failures
}

// Failures counts operations by what they failed for.
type Failures struct {
	// Descriptors: the process, or the machine, had no file descriptor left.
	Descriptors int64
	// Connections: the store is on another machine, which could not be reached.
	Connections int64
}
