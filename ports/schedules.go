package ports

// CronBytesMax bounds a cron expression in bytes. The longest list of distinct values in each field
// is shorter, and the text is parsed for every fire time that is requested.
const CronBytesMax = 256

// Schedules computes the fire times of cron expressions. It has no state and reads no clock: the
// same expression, zone and moment give the same result as long as the rules of the zone do not
// change.
//
// An expression has five fields: minute, hour, day of month, month, day of week. Each is "*", a
// number, an ascending range, a step of these ("*/15", "8-18/2", "10/5" for 10 and up) or a
// comma-separated list of them. Months and days of the week may be names of three letters in any
// case; 0 and 7 are both Sunday. If neither the day of month nor the day of week is "*", it fires
// on the days that match either, as in cron. @hourly, @daily (@midnight), @weekly, @monthly and
// @yearly (@annually) replace the five fields. Seconds are not supported.
//
// A time zone is a name of the IANA database; "" is UTC. When clocks are put forward or back:
//
//   - An expression that fires in every hour follows the clock: times that the clock skips do not
//     fire, and times that it shows twice fire twice.
//   - Any other expression fires the first time that the clock shows or passes the time: a skipped
//     time fires once, at the moment when the clock is put forward, and a time shown twice fires
//     once.
//
// Moments are milliseconds since 1970 UTC, in the years 1900 to 9999; outside of these nothing
// fires. Fire times are whole minutes of the zone's clock.
//
// All three methods return VALIDATION_ERROR for an invalid expression, one longer than CronBytesMax
// and an unknown zone, with the details field, expected and got.
type Schedules interface {
	// Check validates its arguments as the other methods do. An expression that never fires (the
	// 31st of February) is valid.
	Check(cron, timezone string) error

	// LastBefore returns the latest fire time at or before a moment; ok is false if there was none
	// in the eight years before it, the longest distance between two leap days.
	LastBefore(cron, timezone string, atMs int64) (ms int64, ok bool, err error)

	// NextAfter returns the first fire time after a moment; ok is false if none follows within
	// eight years.
	NextAfter(cron, timezone string, atMs int64) (ms int64, ok bool, err error)
}
