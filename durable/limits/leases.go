package limits

// Terms of a performer's lease, in milliseconds (docs/design.md#leases).
const (
	// LeaseMs is how long a lease lasts without a renewal, by the store's clock: a performer that hangs holds a run up
	// for at most that long.
	LeaseMs = 60_000
	// LeaseRenewMs is the interval of renewals: two may fail before the lease ends.
	LeaseRenewMs = LeaseMs / 3
	// LeaseRetryMs is the pause before a renewal that failed is tried again.
	LeaseRetryMs = LeaseRenewMs / 4
	// LeaseMarginMs is how long before the end of its lease, by its own clock, a performer stops its command: time for
	// the command to end before another performer may begin it.
	LeaseMarginMs = 10_000
)
