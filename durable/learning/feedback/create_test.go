package feedback_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

func TestParseCreate(t *testing.T) {
	long := strings.Repeat("x", limits.CorrectionBytesMax)
	for in, want := range map[string]feedback.Create{
		`{"signal":{"kind":"flag"}}`:                             {Signal: feedback.Flag()},
		` { "signal": {"rating": 4.0, "kind": "rating"} }`:       {Signal: feedback.Rating(4)},
		`{"signal":{"kind":"label","label":" hm "},"target":{}}`: {Signal: feedback.Label(" hm ")},
		`{"signal":{"kind":"correction","correction":"` + long + `"},"note":"n","target":{"eventId":"` +
			anEvent.String() + `","nodeId":"` + root.String() + `"}}`: {
			Note: "n", Signal: feedback.Correction(long), Target: feedback.Target{EventID: anEvent, NodeID: root}},
	} {
		if got, err := feedback.ParseCreate([]byte(in)); err != nil || got != want {
			t.Errorf("%.80s: %+v, %v", in, got, err)
		}
	}
}

func TestParseCreateRefusesOtherShapes(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	const kinds, stars = `one of "rating", "correction", "label", "flag"`, "a whole number from 1 to 5"
	label, text := "text of 1 to 128 bytes that is not blank", "text of 1 to 65536 bytes that is not blank"
	for _, test := range []struct{ in, field, expected, got string }{
		{`{}`, "/signal", "an object with the kind of the signal", "nothing"},
		{`[]`, "", "an object", "a list"},
		{``, "", "JSON with unique object keys", "unexpected end of text"},
		{`{"signal":{"kind":"flag"},"signal":{"kind":"flag"}}`, "", "JSON with unique object keys",
			`duplicate key "signal"`},
		{`{"signal":{"kind":"flag","kind":"flag"}}`, "/signal", "JSON with unique object keys",
			`duplicate key "kind"`},
		{`{"signal":{"kind":"flag"},"confidence":1}`, "/confidence",
			`no member of that name, only "note", "signal", "target"`, "1"},
		{`{"signal":{"kind":"flag","stars":1}}`, "/signal/stars",
			`no member of that name, only "kind", "rating", "label", "correction"`, "1"},
		{`{"signal":{"kind":"flag"},"target":{"runId":"` + run.String() + `"}}`, "/target/runId",
			`no member of that name, only "eventId", "nodeId"; name the run outside the annotation`,
			`"` + run.String() + `"`},
		{`{"signal":{"kind":"flag"},"target":null}`, "/target", "an object", "null"},
		{`{"signal":{"kind":"flag"},"target":{"nodeId":"n"}}`, "/target/nodeId",
			"an id: want node_ and 26 characters of a-z2-7", `"n"`},
		{`{"signal":{"kind":"flag"},"target":{"eventId":""}}`, "/target/eventId",
			"an id: want evt_ and 26 characters of a-z2-7", `""`},
		{`{"signal":{"kind":"flag"},"target":{"eventId":7}}`, "/target/eventId", "text", "7"},
		{`{"signal":"flag"}`, "/signal", "an object", `"flag"`},
		{`{"signal":{}}`, "/signal/kind", kinds, "nothing"},
		{`{"signal":{"kind":"Flag"}}`, "/signal/kind", kinds, `"Flag"`},
		{`{"signal":{"kind":7}}`, "/signal/kind", kinds, "7"},
		{`{"signal":{"kind":"flag","rating":5}}`, "/signal/rating",
			`no rating beside the kind "flag": an annotation carries one signal`, "a rating"},
		{`{"signal":{"kind":"flag","rating":0}}`, "/signal/rating",
			`no rating beside the kind "flag": an annotation carries one signal`, "a rating"},
		{`{"signal":{"kind":"rating","rating":5,"correction":""}}`, "/signal/correction",
			`no correction beside the kind "rating": an annotation carries one signal`, "a correction"},
		{`{"signal":{"kind":"correction","label":"x","correction":"y"}}`, "/signal/label",
			`no label beside the kind "correction": an annotation carries one signal`, "a label"},
		{`{"signal":{"kind":"rating"}}`, "/signal/rating", stars, "nothing"},
		{`{"signal":{"kind":"rating","rating":0}}`, "/signal/rating", stars, "0"},
		{`{"signal":{"kind":"rating","rating":6}}`, "/signal/rating", stars, "6"},
		{`{"signal":{"kind":"rating","rating":-1}}`, "/signal/rating", stars, "-1"},
		{`{"signal":{"kind":"rating","rating":1.5}}`, "/signal/rating", stars, "1.5"},
		{`{"signal":{"kind":"rating","rating":1e300}}`, "/signal/rating", stars, "1e+300"},
		{`{"signal":{"kind":"rating","rating":"5"}}`, "/signal/rating", stars, `"5"`},
		{`{"signal":{"kind":"rating","rating":null}}`, "/signal/rating", stars, "null"},
		{`{"signal":{"kind":"label"}}`, "/signal/label", "text", "nothing"},
		{`{"signal":{"kind":"label","label":["x"]}}`, "/signal/label", "text", "a list"},
		{`{"signal":{"kind":"label","label":""}}`, "/signal/label", label, `""`},
		{`{"signal":{"kind":"label","label":" "}}`, "/signal/label", label, `" "`},
		{`{"signal":{"kind":"label","label":"` + long(limits.LabelBytesMax) + `"}}`, "/signal/label", label,
			"129 bytes"},
		{`{"signal":{"kind":"correction","correction":""}}`, "/signal/correction", text, `""`},
		{`{"signal":{"kind":"correction","correction":{"a":1}}}`, "/signal/correction", "text", "an object"},
		{`{"signal":{"kind":"correction","correction":"` + long(limits.CorrectionBytesMax) + `"}}`,
			"/signal/correction", text, "65537 bytes"},
		{`{"signal":{"kind":"flag"},"note":""}`, "/note", "a note, or no member of that name", `""`},
		{`{"signal":{"kind":"flag"},"note":true}`, "/note", "text", "true"},
		{`{"signal":{"kind":"flag"},"note":"` + long(limits.AnnotationNoteBytesMax) + `"}`, "/note",
			"text of 1 to 4096 bytes that is not blank", "4097 bytes"},
	} {
		c, err := feedback.ParseCreate([]byte(test.in))
		refused(t, fmt.Sprintf("%.80s", test.in), err, test.field, test.expected, test.got)
		if c != (feedback.Create{}) {
			t.Errorf("%.80s: refused, and read as %+v", test.in, c)
		}
	}
}

func refused(t *testing.T, name string, err error, field, expected, got string) {
	t.Helper()
	if !fault.Is(err, fault.ValidationError) {
		t.Errorf("%s: %v", name, err)
		return
	}
	f := fault.Of(err)
	if d := f.Details; d["field"] != field || d["expected"] != expected || d["got"] != got {
		t.Errorf("%s: field %q, expected %q, got %q", name, d["field"], d["expected"], d["got"])
	}
	for _, part := range []string{field, expected, got} {
		if !strings.Contains(f.Message, part) {
			t.Errorf("%s: %q does not contain %q", name, f.Message, part)
		}
	}
}

func TestRequestCheck(t *testing.T) {
	with := func(change func(*feedback.Request)) feedback.Request {
		r := request(feedback.Flag())
		change(&r)
		return r
	}
	for _, test := range []struct {
		by                   event.Actor
		r                    feedback.Request
		field, expected, got string
	}{
		{ada, with(func(r *feedback.Request) { r.Confidence = ptr(0.5) }), "/confidence",
			"no confidence: only agents may send one", `one from actor "human"`},
		{judge, with(func(r *feedback.Request) { r.Confidence = ptr(1.5) }), "/confidence", "a number from 0 to 1",
			"1.5"},
		{ada, request(feedback.Rating(7)), "/signal/rating", "a whole number from 1 to 5", "7"},
		{ada, request(feedback.Signal{Kind: "x"}), "/signal/kind", `one of "rating", "correction", "label", "flag"`,
			`"x"`},
		{ada, request(feedback.Label("\xff")), "/signal/label", "text in UTF-8", "invalid UTF-8"},
		{ada, with(func(r *feedback.Request) { r.Note = "\t" }), "/note", "text of 1 to 4096 bytes that is not blank",
			`"\t"`},
	} {
		refused(t, fmt.Sprintf("%+v", test.r), test.r.Check(test.by), test.field, test.expected, test.got)
	}
	for _, by := range []event.Actor{ada, judge, {Kind: event.Engine}} {
		if err := request(feedback.Rating(5)).Check(by); err != nil {
			t.Error(err)
		}
	}
	if err := with(func(r *feedback.Request) { r.Confidence = ptr(1.0) }).Check(judge); err != nil {
		t.Error(err)
	}
	refused(t, "reason", feedback.CheckReason(strings.Repeat("x", limits.SummaryBytesMax+1)), "/reason",
		"text of at most 512 bytes of UTF-8", "513 bytes")
	if err := feedback.CheckReason(""); err != nil {
		t.Error(err)
	}
}

// TestRefusalsAreRedactedAndBounded: refusals are shown and logged, and quote text that the
// caller chose.
func TestRefusalsAreRedactedAndBounded(t *testing.T) {
	long := strings.Repeat("y", 100_000)
	for _, secret := range append(canaries, long) {
		for _, in := range []string{
			`{"signal":{"kind":"` + secret + `"}}`,
			`{"signal":{"kind":"flag"},"` + secret + `":1}`,
			`{"signal":{"kind":"flag"},"` + secret + `":1,"` + secret + `":1}`,
			`{"signal":{"kind":"flag"},"target":{"nodeId":"` + secret + `"}}`,
			`{"signal":{"kind":"rating","rating":"` + secret + `"}}`,
		} {
			_, err := feedback.ParseCreate([]byte(in))
			f := fault.Of(err)
			shown := fmt.Sprint(err, f.Message, f.Suggestion.String(), f.Details)
			if !fault.Is(err, fault.ValidationError) || strings.Contains(shown, "canary") || len(shown) > 2000 {
				t.Errorf("%.80s: %.2000s", in, shown)
			}
		}
	}
}

func TestTargets(t *testing.T) {
	for want, target := range map[feedback.TargetKind]feedback.Target{
		feedback.TargetRun: {}, feedback.TargetNode: {NodeID: root},
		feedback.TargetEvent: {EventID: anEvent, NodeID: root},
	} {
		if got := target.Kind(); got != want {
			t.Errorf("%+v is of kind %s, want %s", target, got, want)
		}
	}
	if all := fmt.Sprint(feedback.Targets(),
		feedback.Signals()); all != "[run event node] [rating correction label flag]" {
		t.Error(all)
	}
	if first == second || first == (id.Annotation{}) {
		t.Error("two annotations of one id")
	}
}
