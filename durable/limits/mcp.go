package limits

// Limits of the MCP server.
const (
	// MCPMessageBytesMax bounds one message from an agent. Notes, context and the artifacts that
	// a model writes are far smaller; files are passed by their paths.
	MCPMessageBytesMax = 8 << 20
	// MCPCallsMax is the number of calls that are executed at once: more than a machine has
	// cores, since a call mostly waits for the disk. Further calls are not read until one ends.
	MCPCallsMax = 16
)
