package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// forge commits a segment of one line with a group that states the last index and the event ids of
// the pins, which are JSON texts. Digests and chain are consistent.
func (f *files) forge(line string, first, last int64, pins ...string) {
	head := f.heads[len(f.heads)-1]
	name, prev := manifest.SegmentName(first, last), ""
	if !head.Digest.IsZero() {
		prev = `,"prev":"` + head.Digest.String() + `"`
	}
	var group strings.Builder
	fmt.Fprintf(&group, `{"bytes":%d,"firstEventIndex":%d,"kind":"segment_closed","lastEventIndex":%d,"manifestIndex":%d,`+
		`"pins":%d%s,"segmentRelPath":"events/%s","sessionId":"%s","sha256":"%s","v":1}`+"\n",
		len(line), first, last, head.NextRecord, len(pins), prev, name, f.log.Owner, canon.Sum([]byte(line)))
	for i, event := range pins {
		fmt.Fprintf(&group, `{"createdByEventId":%s,"eventIndex":%d,"kind":"snapshot_pinned","manifestIndex":%d,`+
			`"sessionId":"%s","snapshotRef":"%s","v":1}`+"\n", event, first, head.NextRecord+1+int64(i), f.log.Owner, snap(1))
	}
	f.commitAs(manifest.Segment{First: first, Last: last, Bytes: []byte(line)}, []byte(group.String()))
	f.segments[name] = []byte(line)
}

// A log with consistent digests whose lines no reader accepts is damaged for Digests as well.
func TestDigestsRefusesForgedGroups(t *testing.T) {
	line := func(at int64) string {
		return fmt.Sprintf(`{"eventIndex":%d,"ignorable":true,"kind":"x","sessionId":"%s"}`+"\n", at, log.Owner)
	}
	node := fmt.Sprintf(`{"data":{"color":"red","snapshotRef":"%s"},"eventId":"ab","eventIndex":0,"kind":"node_created",`+
		`"sessionId":"%s"}`+"\n", snap(1), log.Owner)
	tests := map[string]struct {
		first string
		last  int64
		pins  []string
	}{
		"event id that is not UTF-8": {node, 0, []string{"\"a\xff\""}},
		"index beyond 2^53":          {line(0), 1<<53 + 1, nil},
		"largest index":              {line(0), 1<<63 - 1, nil},
	}
	for name, tt := range tests {
		f := write(t, log)
		f.forge(tt.first, 0, tt.last, tt.pins...)
		// The group that attests the first one. The index after the largest one is negative.
		f.forge(line(tt.last+1), tt.last+1, max(tt.last+1, 0))
		if v := f.read(t); !v.Damaged() {
			t.Fatalf("%s: Read says %s", name, v.Health)
		}
		f.checkDigestsAgree(t, name, 0)
		v, err := manifest.Digests(f.input(0), func([]canon.Digest, manifest.Head) error { return nil })
		if err != nil || v.Health != manifest.CorruptHead || v.Head.Next != 0 {
			t.Errorf("%s: Digests says %s at %+v, %v", name, v.Health, v.Head, err)
		}
	}
}
