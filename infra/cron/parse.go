package cron

import (
	"math/bits"
	"strings"

	gocron "github.com/netresearch/go-cron"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/ports"
)

// field is one of the five fields of an expression: its option of the library's parser and its
// valid values.
type field struct {
	name   string
	option gocron.ParseOption
	want   string
	bits   func(*gocron.SpecSchedule) uint64
}

// fields are in the order of an expression.
var fields = [...]field{
	{"minute", gocron.Minute, "0 to 59", func(s *gocron.SpecSchedule) uint64 { return s.Minute }},
	{"hour", gocron.Hour, "0 to 23", func(s *gocron.SpecSchedule) uint64 { return s.Hour }},
	{"day of the month", gocron.Dom, "1 to 31", func(s *gocron.SpecSchedule) uint64 { return s.Dom }},
	{"month", gocron.Month, "1 to 12 or jan to dec", func(s *gocron.SpecSchedule) uint64 { return s.Month }},
	{"day of the week", gocron.Dow, "0 to 7 or sun to sat", func(s *gocron.SpecSchedule) uint64 { return s.Dow }},
}

// parseOptions parse a whole expression. A day matches when the day of the month or of the week
// does, as in every other cron; in this library that is an option.
const parseOptions = gocron.Minute | gocron.Hour | gocron.Dom | gocron.Month | gocron.Dow | gocron.DowOrDom |
	gocron.Descriptor

// parse parses an expression. What the library accepts beyond the five fields is refused first: a
// zone in the text, intervals, empty items of a list (an expression without other items never
// fires, and searching it is slow), "?" and signs.
func parse(cron string) (*gocron.SpecSchedule, error) {
	if len(cron) > ports.CronBytesMax {
		return nil, refuse("the cron expression has %d bytes; at most %d are allowed", len(cron), ports.CronBytesMax)
	}
	if !strings.HasPrefix(cron, "@") {
		if err := checkFields(cron); err != nil {
			return nil, err
		}
	}
	read, err := gocron.MustNewParser(parseOptions).WithMaxSearchYears(yearsMax).Parse(cron)
	spec, ok := read.(*gocron.SpecSchedule)
	if err != nil || !ok { // an interval is not a SpecSchedule
		return nil, refuse("the cron expression is %.100q; expected @hourly, @daily, @midnight, @weekly, @monthly, "+
			"@yearly, @annually or five fields", cron)
	}
	return spec, nil
}

// refuse is VALIDATION_ERROR about the field cron.
func refuse(format string, args ...any) *fault.Fault {
	return fault.New(fault.ValidationError, format, args...).
		Suggest("Write minute, hour, day of the month, month and day of the week, such as \"30 9 * * mon-fri\", or "+
			"@daily.").With("field", "cron")
}

// checkFields checks each item of each field.
func checkFields(cron string) error {
	parts := strings.FieldsFunc(cron, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(parts) != len(fields) {
		return refuse("the cron expression %.100q has %d fields; expected five: minute, hour, day of the month, "+
			"month and day of the week", cron, len(parts))
	}
	for i, f := range fields {
		for item := range strings.SplitSeq(parts[i], ",") {
			if f.accepts(item) {
				continue
			}
			return refuse("the %s of the cron expression %.100q has %.40q; expected *, numbers from %s, ascending "+
				"ranges, steps shorter than their range, or a list of these", f.name, cron, item, f.want)
		}
	}
	return nil
}

// itemForm matches an item of a list: *, a value or a range, with or without a step.
var itemForm = pattern.New(`^(?:\*|([0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?)(?:/[0-9]+)?$`)

// accepts reports a valid item of a list. It refuses descending ranges, which the library continues
// after the last value: no other cron does, and its steps are wrong after the end of a week.
func (f field) accepts(item string) bool {
	form := itemForm.FindStringSubmatch(item)
	if form == nil {
		return false
	}
	from, to := form[1], form[2]
	if _, ok := f.parse(item); !ok || to == "" {
		return ok
	}
	a, okA := f.parse(from)
	b, okB := f.parse(to)
	last := bits.TrailingZeros64(b)
	if f.option == gocron.Dow && last == 0 && to[len(to)-1] == '7' {
		last = 7 // Sunday at the end of a week
	}
	return okA && okB && bits.TrailingZeros64(a) <= last
}

// parse returns the bits of an item that the library accepts.
func (f field) parse(item string) (uint64, bool) {
	read, err := gocron.MustNewParser(f.option).Parse(item)
	if err != nil {
		return 0, false
	}
	return f.bits(read.(*gocron.SpecSchedule)), true
}
