package limits

// Limits of run events that are recorded (docs/design.md#recorded-run-events).
const (
	// RunEventBytesMax bounds the payload of one.
	RunEventBytesMax = 64 << 10
	// RunEventIDBytesMax bounds its type and its ids.
	RunEventIDBytesMax = 128
	// RunEventsOfResultMax is the number of them that the result of one host step lists.
	RunEventsOfResultMax = 64
	// ComposedPromptBytesMax bounds a prompt that a host step composes: its event has it twice, and its variables.
	ComposedPromptBytesMax = 16 << 10
	// MockTokensMax and MockTokenBytesMax bound the parts that a provider of a test returns.
	MockTokensMax     = 256
	MockTokenBytesMax = 128
	// MockCountMax bounds what it counts.
	MockCountMax = 1_000_000_000
)

// Limits of the HTTP server (docs/design.md#openwop-server). The sizes bound what one request costs, the counts what
// all of them cost together; the times end what a client began and does not continue.
const (
	// HTTPBodyBytesMax bounds the body of a request. It is advertised as limits.maxRequestBodyBytes. A context
	// has at most a quarter of it; the workflow of a proposal is far smaller.
	HTTPBodyBytesMax = 1 << 20
	// HTTPBodyValuesMax bounds the values in a body, before memory is taken for them: as many as a workflow has.
	HTTPBodyValuesMax = WorkflowValuesMax
	// HTTPHeaderBytesMax bounds the request line and all headers together. Clients send less than 2 KiB.
	HTTPHeaderBytesMax = 16 << 10
	// HTTPHeadersMax is the number of header lines of a request: each takes more memory than bytes on the wire.
	HTTPHeadersMax = 64
	// HTTPPathValueBytesMax bounds an id in a path. It is that of the longest id, of a node.
	HTTPPathValueBytesMax = 128
	// HTTPConnectionsMax is the number of open connections: all streams and twice as many again. Further ones wait
	// in the queue of the operating system.
	HTTPConnectionsMax = 6000
	// HTTPStreamsMax is the number of open streams and waiting polls. A stream costs at most 40 KiB of memory.
	HTTPStreamsMax = 2000
	// HTTPRequestsMax is the number of other requests that are executed at once, each with a body in memory:
	// more than a machine has cores, since they mostly wait for the disk. Further ones wait for HTTPTurnMs.
	HTTPRequestsMax = 32
	// HTTPTurnMs is how long a request waits for its turn, and for another request with the same idempotency key.
	HTTPTurnMs = 10_000
	// HTTPHeaderReadMs is how long the headers of a request may take: a client on the same machine has no slow network.
	HTTPHeaderReadMs = 5_000
	// HTTPBodyReadMs is how long a whole request may take to arrive.
	HTTPBodyReadMs = 15_000
	// HTTPDrainMs is how long the rest of a refused body may take to arrive: the answer is sent behind it.
	HTTPDrainMs = 1_000
	// HTTPIdleMs is how long a connection without a request is kept.
	HTTPIdleMs = 60_000
	// HTTPWriteMs is how long one write to a client may take. A client that reads nothing for that long is disconnected.
	HTTPWriteMs = 10_000
	// HTTPKeepaliveMs is the longest silence of a stream: half of the 30 s that the protocol requires.
	HTTPKeepaliveMs = 15_000
	// HTTPPollSecondsMax and HTTPPollSeconds are the longest time that a poll waits, and the time without a parameter.
	HTTPPollSecondsMax = 60
	HTTPPollSeconds    = 30
	// HTTPBufferMsMax is the longest time that a stream collects events into a batch, by the protocol.
	HTTPBufferMsMax = 5_000
	// HTTPBatchBytesMax bounds a batch in memory, but for its last event. A full one is sent before its time.
	HTTPBatchBytesMax = 64 << 10
	// HTTPSocketBytes is the size of the send buffer of a connection: what a client does not read stays in the log.
	HTTPSocketBytes = 128 << 10
	// HTTPCancelRunsMax is the number of runs that one request cancels, as the protocol recommends.
	HTTPCancelRunsMax = 100
	// HTTPCancelsMax is the number of these that are cancelled at once.
	HTTPCancelsMax = 4
	// HTTPStopMs is how long requests may take to end after the server is stopped.
	HTTPStopMs = 5_000
)
