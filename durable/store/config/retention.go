package config

// daysMax is a hundred years: who wants longer wants 0, which is for ever.
const daysMax = 36_500

// RetentionDays is after how many days without anything new a cleanup moves a session
// to the trash; 0 is never (locks section 2.2).
func (c Config) RetentionDays() int64 { return int64(c.value(RetentionDays).Float()) }

// TrashDays is after how many days in the trash a cleanup removes a session for good;
// 0 is never.
func (c Config) TrashDays() int64 { return int64(c.value(TrashDays).Float()) }
