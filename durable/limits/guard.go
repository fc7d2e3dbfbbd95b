package limits

// Limits of hooks and of the settings of clients (docs/design.md#guard).
const (
	// ClientSettingsBytesMax bounds the settings of a client that are changed. Claude Code keeps its
	// history of directories in the same file as its servers.
	ClientSettingsBytesMax = 16 << 20
	// GuardInputBytesMax bounds the input of a hook, which may have the last message of an agent.
	GuardInputBytesMax = 4 << 20
	// GuardTextBytesMax bounds the text of a hook's answer: Claude Code shows at most 10,000 characters.
	GuardTextBytesMax = 8 << 10
	// GuardRefusalsMax is how often in a row a hook refuses the end of a turn at the same node. An agent
	// that cannot perform a step would otherwise never return to its user.
	GuardRefusalsMax = 2
	// GuardChatsMax bounds the chats that hooks refuse at one node. A run that was left open would
	// otherwise grow with every chat in its repository.
	GuardChatsMax = 64
	// GuardRefusalsRecordedMax bounds the count in a record, for versions that refuse more often.
	GuardRefusalsRecordedMax = 99
	// GuardRunsMax bounds the open runs of a repository among which a hook looks for a step: the latest.
	GuardRunsMax = 64
	// GuardDeadlineMs ends a hook without an answer. Its client waits for it.
	GuardDeadlineMs = 1000
	// GuardReadMs is how long a hook reads changed sessions into the list of open runs. The others
	// follow with the next hook.
	GuardReadMs = 500
	// GuardCacheBytesMax bounds the list of open runs: 256 bytes for each of 100,000 sessions.
	GuardCacheBytesMax = 25 << 20
)
