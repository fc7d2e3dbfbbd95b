package bundle_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

var orderForgeries = []forgery{
	{"swapped events", events(swap(1, 2)), order, "eventIndex is 2: want 1, at /session/events/1"},
	{"an event fewer", events(func(l []string) []string { return slices.Delete(l, 2, 3) }), order,
		"eventIndex is 3: want 2"},
	{"the first event fewer", events(func(l []string) []string { return l[1:] }), order, "eventIndex is 1: want 0"},
	{"an event twice", events(func(l []string) []string { return append(l, l[5]) }), order, "eventIndex is 5: want 6"},
	{"an index as text", events(in(3, `"eventIndex":3`, `"eventIndex":"3"`)), order, `eventIndex is "3"`},
	{"an index of 3.5", events(in(3, `"eventIndex":3`, `"eventIndex":3.5`)), order, `eventIndex is 3.5`},
	{"no index", events(in(3, `"eventIndex":3,`, ``)), order, `eventIndex is missing`},
	{"an event of another session", events(in(3, session, "sess_baaaaaaaaaaaaaaaaaaaaaaaaa")), order, "sessionId is"},
	{"the first event of another session", events(in(0, session, "sess_baaaaaaaaaaaaaaaaaaaaaaaaa")), order,
		"at /session/events/0"},
	{"events of another session", member(ofSession, "sessionId", `"sess_baaaaaaaaaaaaaaaaaaaaaaaaa"`), order,
		"sessionId is"},
	{"the last event fewer", events(func(l []string) []string { return l[:5] }), manifests,
		"the records cover 6 events, and the log has 5"},
	{"events of a log", member(annotations, "events", `[{"eventIndex":1}]`), order,
		"/session/logs/annotations/events/0"},
	{"records of a log", member(annotations, "manifest", `[]`), manifests, "the records cover 0 events"},

	{"swapped records", records(swap(1, 2)), manifests, "manifestIndex is 2: want 1, at /session/manifest/1"},
	{"a record fewer", records(func(l []string) []string { return l[:3] }), manifests,
		"the records cover 3 events, and the log has 6"},
	{"no records", records(func(l []string) []string { return nil }), manifests, "the records cover 0 events"},
	{"a record of another session", records(in(3, session, "sess_baaaaaaaaaaaaaaaaaaaaaaaaa")), manifests,
		"sessionId is"},
	{"a gap between segments", records(in(3, `"firstEventIndex":3`, `"firstEventIndex":4`)), manifests,
		"events 4 to 5: want it to begin with 3"},
	{"segments over each other", records(in(3, `"firstEventIndex":3`, `"firstEventIndex":2`)), manifests,
		"want it to begin with 3"},
	{"a segment backwards", records(in(3, `"lastEventIndex":5`, `"lastEventIndex":2`)), manifests, "events 3 to 2"},
	{"a segment beyond the events", records(in(3, `5,"manifest`, `6,"manifest`)), manifests, "segmentRelPath is"},
	{"a path that climbs", records(in(3, "events/00000003", "../../events/00000003")), manifests, "segmentRelPath is"},
	{"a path that climbs and returns", records(in(3, "events/00000003", "events/../events/00000003")), manifests,
		"segmentRelPath is"},
	{"an absolute path", records(in(3, "events/00000003", "/events/00000003")), manifests, "segmentRelPath is"},
	{"a path with backslashes", records(in(3, "events/00000003", `events\\00000003`)), manifests, "segmentRelPath is"},
	{"a path of another segment", records(in(3, "events/00000003", "events/00000002")), manifests, "segmentRelPath is"},
	{"a path without zeros", records(in(3, "events/00000003", "events/3")), manifests, "segmentRelPath is"},
	{"a segment of 8 MiB and a byte", records(func(l []string) []string {
		l[3] = regexp.MustCompile(`"bytes":\d+`).ReplaceAllString(l[3], `"bytes":8388609`)
		return l
	}), manifests, "bytes of the segment is 8388609: want at most 8388608"},
	{"a segment without a length", records(func(l []string) []string {
		l[3] = regexp.MustCompile(`"bytes":\d+,`).ReplaceAllString(l[3], "")
		return l
	}), manifests, "bytes of the segment is missing"},
	{"a pin before its segment",
		records(func(l []string) []string { return in(2, `"eventIndex":2`, `"eventIndex":3`)(l) }), manifests,
		"pinned for event 3"},

	{"a snapshot is missing", func(_ *testing.T, p *parts) { p.snapshots.names = p.snapshots.names[1:] },
		fault.BundleMissingSnapshot, "is referenced and not embedded, at /session/events/1"},
	{"a pinned snapshot is missing",
		records(func(l []string) []string { return in(2, digest(`{"b":{"c":[1.5,true,null,-3]}}`), digest("x"))(l) }),
		fault.BundleMissingSnapshot, "at /session/manifest/2"},
	{"a snapshot by no digest", events(in(2, `"snapshotRef":"sha256`, `"snapshotRef":"sha512`)),
		fault.BundleMissingSnapshot, "not a digest"},
	{"the workflow is missing", func(_ *testing.T, p *parts) { p.workflows.names = nil },
		fault.BundleMissingPinnedWorkflow, "at /session/events/0"},
	{"a node's workflow is missing", events(in(2, `"workflowHash":"sha256:4`, `"workflowHash":"sha256:5`)),
		fault.BundleMissingPinnedWorkflow, "at /session/events/2"},
	{"an artifact is missing", func(_ *testing.T, p *parts) { p.artifacts.names = p.artifacts.names[1:] }, integrity,
		"at /session/events/3"},
	{"a tombstone is missing", func(_ *testing.T, p *parts) {
		p.artifacts.names = slices.DeleteFunc(p.artifacts.names, func(n string) bool { return n == digest("secret") })
	}, integrity, "at /session/events/4"},
}
