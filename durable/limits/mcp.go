package limits

// Limits of the MCP server.
const (
	// MCPMessageBytesMax bounds one message from an agent. Notes, context and the artifacts that
	// a model writes are far smaller; files are passed by their paths.
	MCPMessageBytesMax = 8 << 20
	// MCPCallsMax is the number of calls that are executed at once: more than a machine has
	// cores, since a call mostly waits for the disk. Further calls are not read until one ends.
	MCPCallsMax = 16
	// MCPAskMs is how long a call waits for the answer of the user: the call holds its place, and
	// clients give up calls that take minutes.
	MCPAskMs = 120_000
	// MCPListMax is the number of prompts or resources in one page of a list.
	MCPListMax = 100
	// MCPRunsListed is the number of runs in the list of resources; resume_session finds the others.
	MCPRunsListed = 20
	// MCPTextShownMax bounds a description in these lists, in bytes.
	MCPTextShownMax = 512
	// MCPListFreshMs is how long a client may keep a list that follows the files of a folder.
	MCPListFreshMs = 5_000
	// MCPToolsFreshMs is how long a client may keep the list of tools, which changes with the program.
	MCPToolsFreshMs = 3_600_000
)
