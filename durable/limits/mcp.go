package limits

// Limits of the server that agents talk to.
const (
	// MCPMessageBytesMax bounds one message of an agent: notes, context and the
	// artifacts that a model writes are far below; files are handed over by their paths.
	MCPMessageBytesMax = 8 << 20
	// MCPCallsMax is how many calls are worked on at once: more than a machine has
	// cores, since most of a call's time is waiting for the disk; the others wait unread.
	MCPCallsMax = 16
)
