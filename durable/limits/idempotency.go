package limits

// Limits of the answers that are kept for idempotency keys (docs/design.md#idempotency-keys).
const (
	// IdempotencyWindowMs is how long an answer is kept for its key: a day, in milliseconds.
	IdempotencyWindowMs = 24 * 3600 * 1000
	// IdempotencyAnswerBytesMax bounds an answer that is kept, as JCS. Lists, which are longer, are not made by requests
	// with a key.
	IdempotencyAnswerBytesMax = 64 << 10
	// IdempotencyKeyBytesMax bounds a key, which is a header of a request, as the protocol recommends.
	IdempotencyKeyBytesMax = 255
	// IdempotencyRouteBytesMax bounds the method and path of a request with a key.
	IdempotencyRouteBytesMax = 512
	// IdempotencyKeysMax is the number of keys whose answers a process finds, the newest ones: more than one in two seconds
	// for a day, in 20 MiB of memory.
	IdempotencyKeysMax = 50_000
	// IdempotencyCacheBytesMax bounds the saved place from which the answers of a day are read.
	IdempotencyCacheBytesMax = 4096
)
