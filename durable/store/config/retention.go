package config

// daysMax is a hundred years. A user who wants to keep sessions longer sets 0, which is forever.
const daysMax = 36_500

// RetentionDays returns after how many days without new events a cleanup moves a session to the
// trash; 0 is never (docs/design.md#retention).
func (c Config) RetentionDays() int64 { return int64(c.value(RetentionDays).Float()) }

// TrashDays returns after how many days in the trash a cleanup removes a session permanently; 0
// is never.
func (c Config) TrashDays() int64 { return int64(c.value(TrashDays).Float()) }
