package redrive

import (
	"bytes"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Difference is the first difference between a recorded segment and its re-execution.
type Difference struct {
	Segment    string `json:"segment"` // file name of the recorded segment
	EventIndex int64  `json:"eventIndex"`
	Pointer    string `json:"pointer,omitzero"` // JSON pointer to the first differing member; "": the whole line
	Expected   string `json:"expected"`         // the recorded line, "" if there is none
	Got        string `json:"got"`              // the re-executed line, "" if there is none
	Message    string `json:"message"`          // the kind of difference, for people
}

// Refused returns the difference for a segment whose inputs produced no plan at all; why is
// the reason.
func Refused(recorded manifest.Segment, why string) *Difference {
	line, _, _ := bytes.Cut(recorded.Bytes, []byte("\n"))
	return &Difference{Segment: recorded.Name(), EventIndex: recorded.First, Expected: string(line), Message: why}
}

// Compare returns the first difference between a recorded segment and the plan that its
// inputs produce now, nil if all bytes are equal. The plan is encoded like a segment to be
// appended, so that the comparison covers ids and canonical JSON too.
func Compare(recorded manifest.Segment, plan manifest.Plan) *Difference {
	if len(plan.Events) == 0 {
		return Refused(recorded, "re-execution records nothing")
	}
	replayed, err := manifest.EncodeSegment(plan.Log, asRecorded(recorded.Events, imported(recorded.Events, plan.Events)))
	if err != nil {
		return Refused(recorded, "the re-executed events cannot be encoded: "+err.Error())
	}
	if bytes.Equal(recorded.Bytes, replayed.Bytes) {
		return nil
	}
	want, got := bytes.SplitAfter(recorded.Bytes, []byte("\n")), bytes.SplitAfter(replayed.Bytes, []byte("\n"))
	// Lines before the first difference have equal event indexes in both.
	at := 0
	for at < len(want) && at < len(got) && bytes.Equal(want[at], got[at]) {
		at++
	}
	d := &Difference{Segment: recorded.Name(), EventIndex: recorded.First + int64(at), Expected: line(want, at),
		Got: line(got, at)}
	switch {
	case d.Expected == "":
		d.Message = "re-execution records an additional event"
	case d.Got == "":
		d.Message = "re-execution does not record this event"
	default:
		d.Pointer = pointer(d.Expected, d.Got)
		d.Message = "re-execution records different content"
	}
	return d
}

// line returns line i without its newline, "" after the last one.
func line(lines [][]byte, i int) string {
	if i >= len(lines) {
		return ""
	}
	return string(bytes.TrimSuffix(lines[i], []byte("\n")))
}

// pointer returns the JSON pointer to the first member, in canonical order, that differs
// between two lines; "" if one of them is not JSON.
func pointer(a, b string) string {
	// Recorded lines are canonical JSON; a parse error means a damaged or foreign line.
	va, errA := canon.Parse([]byte(a))
	vb, errB := canon.Parse([]byte(b))
	if errA != nil || errB != nil {
		return ""
	}
	return differing(va, vb)
}

// differing descends into arrays and objects as long as both values have the same kind.
func differing(a, b canon.Value) string {
	switch {
	case a.Kind() == canon.Object && b.Kind() == canon.Object:
		return inObjects(a, b)
	case a.Kind() == canon.Array && b.Kind() == canon.Array:
		// An index beyond the shorter array differs by its absence.
		for i := range max(a.Len(), b.Len()) {
			at := "/" + strconv.Itoa(i)
			if i >= a.Len() || i >= b.Len() {
				return at
			}
			if !a.Item(i).Equal(b.Item(i)) {
				return at + differing(a.Item(i), b.Item(i))
			}
		}
	}
	return ""
}

// inObjects merges the sorted keys of two objects: a key in only one of them is a difference.
func inObjects(a, b canon.Value) string {
	for i, j := 0, 0; i < a.Len() || j < b.Len(); {
		switch {
		case j >= b.Len() || i < a.Len() && canon.CompareKeys(a.Key(i), b.Key(j)) < 0:
			return "/" + canon.EscapePointer(a.Key(i))
		case i >= a.Len() || canon.CompareKeys(a.Key(i), b.Key(j)) > 0:
			return "/" + canon.EscapePointer(b.Key(j))
		case !a.Item(i).Equal(b.Item(j)):
			return "/" + canon.EscapePointer(a.Key(i)) + differing(a.Item(i), b.Item(j))
		}
		i, j = i+1, j+1
	}
	return ""
}
