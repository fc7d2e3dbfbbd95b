package pages

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/projections/markup"
	"github.com/waybill/waybill/projections/runs"
)

// tone is the color of a status. The status is always a word beside it.
type tone string

const (
	good tone = "good"
	warn tone = "warn"
	bad  tone = "bad"
	info tone = "info"
	idle tone = "idle"
)

// toneOf returns the tone of the status of a run.
func toneOf(s runs.Status) tone {
	switch s {
	case runs.CompleteStatus:
		return good
	case runs.Failed, runs.Cancelled:
		return bad
	case runs.Blocked, runs.Paused, runs.CompleteWithGaps, runs.Cancelling:
		return warn
	}
	return info
}

// badge is a word on a ground of its tone.
func badge(t tone, word string) *markup.Node {
	return markup.E(markup.Span, markup.Cls("badge "+string(t)), markup.Text(word))
}

// plain returns a stored word with spaces.
//
//go:noinline
func plain[S ~string](word S) string { return strings.ReplaceAll(string(word), "_", " ") }

// sentence returns text in one line.
func sentence(text string) string { return strings.Join(strings.Fields(text), " ") }

// when is a moment in UTC; a dash for none.
func when(ms int64) *markup.Node {
	if ms == 0 {
		return markup.Text("–")
	}
	text := event.TimeText(ms)
	return markup.E(markup.Time, markup.Set(markup.DateTime, text), markup.Text(clock(text)))
}

// clock returns a moment in RFC 3339 as people read it.
func clock(text string) string {
	if len(text) < len("2006-01-02T15:04:05") {
		return text
	}
	return text[:10] + " " + text[11:19] + " UTC"
}

// duration returns milliseconds in the two largest units.
func duration(ms int64) string {
	const second, minute, hour, day = 1000, 60 * 1000, 3600 * 1000, 24 * 3600 * 1000
	switch {
	case ms < second:
		return strconv.FormatInt(ms, 10) + " ms"
	case ms < minute:
		return strconv.FormatFloat(float64(ms)/second, 'f', 1, 64) + " s"
	case ms < hour:
		return fmt.Sprintf("%d min %d s", ms/minute, ms%minute/second)
	case ms < day:
		return fmt.Sprintf("%d h %d min", ms/hour, ms%hour/minute)
	}
	return fmt.Sprintf("%d d %d h", ms/day, ms%day/hour)
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey") {
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// size returns a number of bytes.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return count(int(n), "byte")
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<10), 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// actor names who did something. Names are claims, which the page says where it shows them.
func actor(a event.Actor) string {
	name := sentence(a.Ref)
	if short, _, ok := strings.Cut(name, " <"); ok && short != "" {
		name = short // without the address
	}
	switch {
	case a.Kind == "" && name == "":
		return "not recorded"
	case name == "":
		return string(a.Kind)
	case a.Kind == event.Human || a.Kind == "":
		return name
	}
	return name + " (" + string(a.Kind) + ")"
}

// keyWords returns a step instance key with rounds that are counted from one.
func keyWords(key string) string { return snapshot.InWords(key) }

// mono is a text in the font of code, such as an id or a digest.
func mono(text string) *markup.Node {
	return markup.E(markup.Span, markup.Cls("mono"), markup.Text(text))
}

// digest is a digest; a dash for none.
func digest(d canon.Digest) *markup.Node {
	if d.IsZero() {
		return markup.Text("–")
	}
	return mono(d.String())
}

// typed is a command line to copy.
func typed(words ...string) *markup.Node {
	return markup.E(markup.Code, markup.Cls("cmd"), markup.Text(fault.Command(words).Line()))
}

// paragraph is a paragraph of texts and inline elements.
//
//go:noinline
func paragraph(items ...*markup.Node) *markup.Node { return markup.E(markup.P, items...) }

// note is a paragraph that a reader must not miss.
func note(t tone, items ...*markup.Node) *markup.Node {
	return markup.E(markup.Div, append([]*markup.Node{markup.Cls("note " + string(t))}, items...)...)
}
