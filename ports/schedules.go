package ports

// CronBytesMax bounds a cron expression: the longest list that says something else in each
// field stays below it, and every fire time asked for reads the text again.
const CronBytesMax = 256

// Schedules says when a cron expression fires. It keeps nothing and reads no clock: the
// same expression, zone and moment give the same answer for as long as the rules of the
// zone are the same.
//
// An expression has five fields, minute hour day-of-month month day-of-week, each a "*", a
// number, a range that does not run backwards, a step of these ("*/15", "8-18/2", "10/5" for
// 10 and up) or a list of them by commas. Months and days of the week may be names of three
// letters in any case; 0 and 7 are both Sunday. Where neither the day of the month nor the
// day of the week is "*", it fires on the days of either, as cron always did. In place of the
// fields stands @hourly, @daily (@midnight), @weekly, @monthly or @yearly (@annually). There
// are no seconds.
//
// A time zone is a name of the IANA database, "" is UTC. Where clocks are put forward or back:
//   - An expression that fires in every hour follows the clock: what the clock leaves out
//     does not fire, and what it shows twice fires twice.
//   - Any other fires the first time that the clock shows the time or has passed it: what the
//     clock leaves out fires once, at the moment when the clock is put forward, and what it
//     shows twice fires once.
//
// Moments are milliseconds since 1970 UTC, in the years 1900 to 9999: at others nothing fires.
// Fire times are whole minutes of the zone's clock.
//
// All three methods refuse an expression that is none, one longer than
// CronBytesMax and a zone that nobody knows with VALIDATION_ERROR, which names the
// field, what was expected and what was got.
type Schedules interface {
	// Check refuses what the other two would. An expression that never fires (the 31st of
	// February) is sound: it has no times.
	Check(cron, timezone string) error

	// LastBefore is the newest fire time at or before a moment; ok is false where there is
	// none in the eight years before it: two leap days are never further apart.
	LastBefore(cron, timezone string, atMs int64) (ms int64, ok bool, err error)

	// NextAfter is the first fire time behind a moment; ok is false where there is none in
	// the eight years that follow.
	NextAfter(cron, timezone string, atMs int64) (ms int64, ok bool, err error)
}
