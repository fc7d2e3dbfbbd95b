package redrive

import (
	"bytes"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Difference is the first place where what is decided now is not what is on record.
type Difference struct {
	Segment    string `json:"segment"` // file name of the segment on record
	EventIndex int64  `json:"eventIndex"`
	Pointer    string `json:"pointer,omitzero"` // JSON pointer of the first member that differs; "" is the whole line
	Expected   string `json:"expected"`         // the line on record, "" where there is none
	Got        string `json:"got"`              // the line decided now, "" where there is none
	Message    string `json:"message"`
}

// Refused is the difference that nothing was decided at all.
func Refused(recorded manifest.Segment, why string) *Difference {
	line, _, _ := bytes.Cut(recorded.Bytes, []byte("\n"))
	return &Difference{Segment: recorded.Name(), EventIndex: recorded.First, Expected: string(line), Message: why}
}

// Compare finds the first difference between a segment on record and what its
// inputs come to now; nil when there is none.
func Compare(recorded manifest.Segment, plan manifest.Plan) *Difference {
	if len(plan.Events) == 0 {
		return Refused(recorded, "nothing would be recorded now")
	}
	now, err := manifest.EncodeSegment(plan.Log, imported(recorded.Events, plan.Events))
	if err != nil {
		return Refused(recorded, "what is decided now cannot be written: "+err.Error())
	}
	if bytes.Equal(recorded.Bytes, now.Bytes) {
		return nil
	}
	was, is := bytes.SplitAfter(recorded.Bytes, []byte("\n")), bytes.SplitAfter(now.Bytes, []byte("\n"))
	at := 0
	for at < len(was) && at < len(is) && bytes.Equal(was[at], is[at]) {
		at++
	}
	d := &Difference{Segment: recorded.Name(), EventIndex: recorded.First + int64(at), Expected: line(was, at),
		Got: line(is, at)}
	switch {
	case d.Expected == "":
		d.Message = "an event more would be recorded now"
	case d.Got == "":
		d.Message = "the event would not be recorded now"
	default:
		d.Pointer = pointer(d.Expected, d.Got)
		d.Message = "the event would be recorded otherwise now"
	}
	return d
}

func line(lines [][]byte, i int) string {
	if i >= len(lines) {
		return ""
	}
	return string(bytes.TrimSuffix(lines[i], []byte("\n")))
}

// pointer finds the first member, in JCS order, that is not the same.
func pointer(a, b string) string {
	va, errA := canon.Parse([]byte(a))
	vb, errB := canon.Parse([]byte(b))
	if errA != nil || errB != nil {
		return ""
	}
	return differing(va, vb)
}

func differing(a, b canon.Value) string {
	switch {
	case a.Kind() == canon.Object && b.Kind() == canon.Object:
		return inObjects(a, b)
	case a.Kind() == canon.Array && b.Kind() == canon.Array:
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
