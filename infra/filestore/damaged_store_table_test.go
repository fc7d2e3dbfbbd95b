package filestore_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// corpusBuilder builds the damaged stores from a healthy one and from what one more append would
// have written.
type corpusBuilder struct {
	t     *testing.T
	files map[string][]byte
	heads []manifest.Head
	log   manifest.Log
	seg   manifest.Segment // events 9 to 11
	group []byte           // that commits it

	snapshot manifest.Object // that it refers to
	out      []damagedStore
}

// add copies the healthy store, damages the copy with damage, and records the expected verdict.
func (h *corpusBuilder) add(name, how string, health manifest.Health, next int64, findings []manifest.FindingCode,
	damage func(files map[string][]byte)) *damagedStore {
	h.t.Helper()
	files := map[string][]byte{}
	for file, b := range h.files {
		files[file] = bytes.Clone(b)
	}
	damage(files)
	if findings == nil {
		findings = []manifest.FindingCode{}
	}
	want := expected{How: how, Health: health, Findings: findings, Next: next, Writable: health == manifest.Healthy}
	h.out = append(h.out, damagedStore{name, want, files})
	return &h.out[len(h.out)-1]
}

func (h *corpusBuilder) manifest() string { return h.log.Root + "/manifest.jsonl" }

func (h *corpusBuilder) segment(first, last int64) string {
	return h.log.Root + "/events/" + manifest.SegmentName(first, last)
}

func codes(c ...manifest.FindingCode) []manifest.FindingCode { return c }

// damagedStores returns the whole corpus.
func damagedStores(t *testing.T) []damagedStore {
	t.Helper()
	h := &corpusBuilder{t: t, log: suite.NewSessionFixture(1).Log}
	h.files, h.heads = base(t)
	fixture := suite.NewSessionFixture(1)
	fixture.Advance(3)
	fixture.Advance(6)
	plan := fixture.Advance(9)
	var err error
	h.seg, err = manifest.EncodeSegment(h.log, plan.Events)
	fatal(t, err)
	h.snapshot = plan.Objects[0]
	h.group = manifest.Group(h.log, h.heads[2], h.seg)
	h.add("healthy", "nothing is broken: what the others were made from", manifest.Healthy, 9, nil,
		func(map[string][]byte) {})
	h.tornGroups()
	h.orphans()
	h.lostTails()
	h.flips()
	h.segments()
	h.others()
	return h.out
}

// tornGroups: what a crash can leave of the last append's group (docs/design.md#log-tail).
func (h *corpusBuilder) tornGroups() {
	tail := codes(manifest.UncommittedTail, manifest.OrphanSegment)
	torn := func(name, how string, left []byte) {
		h.add(name, how, manifest.Healthy, 9, tail, func(files map[string][]byte) {
			files[h.segment(9, 11)] = h.seg.Bytes
			files[h.manifest()] = append(files[h.manifest()], left...)
		})
	}
	line := bytes.IndexByte(h.group, '\n') + 1
	for _, n := range []int{1, 100, line - 1, line, line + 1, len(h.group) - 1} {
		torn(fmt.Sprintf("torn-at-byte-%d", n), fmt.Sprintf("the group of the last append ends after %d of %d bytes", n,
			len(h.group)), h.group[:n])
	}
	at := h.heads[2].Bytes
	for start, i := int64(0), 0; start < int64(len(h.group)); i++ {
		end := min(int64(len(h.group)), start+manifest.SectorBytes-(at+start)%manifest.SectorBytes)
		zeroed := bytes.Clone(h.group)
		clear(zeroed[start:end])
		torn(fmt.Sprintf("zero-sector-%d", i), fmt.Sprintf("sector %d of the last append's group reads as zeros", i),
			zeroed)
		start = end
	}
	torn("zero-group", "all of the last append's group reads as zeros", make([]byte, len(h.group)))
	h.add("zeros-beyond-the-group", "more zeros than the group is long: no crash leaves that", manifest.CorruptTail, 9,
		codes(manifest.ManifestDamaged), func(files map[string][]byte) {
			files[h.segment(9, 11)] = h.seg.Bytes
			files[h.manifest()] = append(files[h.manifest()], make([]byte, len(h.group)+1)...)
		})
}

// orphans: segments that no group commits.
func (h *corpusBuilder) orphans() {
	h.add("orphan", "a segment was placed, and its group never written", manifest.Healthy, 9,
		codes(manifest.UncommittedTail),
		func(files map[string][]byte) { files[h.segment(9, 11)] = h.seg.Bytes })
	h.add("orphan-beside-a-new-plan",
		"an orphan segment and a committed segment of another range start at the same event", manifest.Healthy,
		9,
		codes(manifest.OrphanSegment), func(files map[string][]byte) {
			one, err := manifest.DecodeSegment(h.log, 6, 8, files[h.segment(6, 8)])
			fatal(h.t, err)
			shorter, err := manifest.EncodeSegment(h.log, one.Events[:2])
			fatal(h.t, err)
			files[h.segment(6, 7)] = shorter.Bytes
		})
	h.add("unborn", "an orphan at 0 and an empty manifest: nothing was ever committed", manifest.Healthy, 0,
		codes(manifest.OrphanSegment), func(files map[string][]byte) {
			files[h.manifest()] = []byte{}
			delete(files, h.segment(3, 5))
			delete(files, h.segment(6, 8))
		})
}

// lostTails: complete groups are missing.
func (h *corpusBuilder) lostTails() {
	h.add("lost-last-group", "the last group is missing: readers cannot distinguish that from a crash",
		manifest.Healthy, 6,
		codes(manifest.UncommittedTail),
		func(files map[string][]byte) { files[h.manifest()] = files[h.manifest()][:h.heads[1].Bytes] })
	h.add("lost-two-groups", "two groups are gone: the second segment beyond the end proves it", manifest.CorruptTail,
		3,
		codes(manifest.UncommittedTail, manifest.LostTail),
		func(files map[string][]byte) { files[h.manifest()] = files[h.manifest()][:h.heads[0].Bytes] })
	h.add("lost-manifest", "the manifest is missing, the segments exist", manifest.CorruptHead, 0,
		codes(manifest.OrphanSegment, manifest.LostTail), func(files map[string][]byte) { delete(files, h.manifest()) })
}

// flips: one bit of a committed file is inverted.
func (h *corpusBuilder) flips() {
	flip := func(file string, at int64) func(map[string][]byte) {
		return func(files map[string][]byte) { files[file][at] ^= 0x01 }
	}
	h.add("flipped-first-group", "a byte of the first group is another", manifest.CorruptHead, 0,
		codes(manifest.ManifestDamaged), flip(h.manifest(), 20))
	h.add("flipped-middle-group", "a byte of the second group is another", manifest.CorruptTail, 3,
		codes(manifest.ManifestDamaged), flip(h.manifest(), h.heads[0].Bytes+40))
	h.add("flipped-last-group", "a byte of the last group is another: it was acknowledged, and is not cut",
		manifest.CorruptTail, 6,
		codes(manifest.ManifestDamaged), flip(h.manifest(), h.heads[2].Bytes-9))
	h.add("flipped-segment", "a byte of a committed segment is another", manifest.CorruptTail, 3,
		codes(manifest.SegmentDamaged), flip(h.segment(3, 5), 200))
	h.add("flipped-first-segment", "a byte of the first segment is another", manifest.CorruptHead, 0,
		codes(manifest.SegmentDamaged), flip(h.segment(0, 2), 30))
}

// segments: files of committed segments are missing, truncated or in the wrong order.
func (h *corpusBuilder) segments() {
	h.add("missing-segment", "a committed segment is gone", manifest.CorruptTail, 3, codes(manifest.SegmentMissing),
		func(files map[string][]byte) { delete(files, h.segment(3, 5)) })
	h.add("truncated-segment", "a committed segment lost its end", manifest.CorruptTail, 3,
		codes(manifest.SegmentDamaged),
		func(files map[string][]byte) {
			b := files[h.segment(3, 5)]
			files[h.segment(3, 5)] = b[:len(b)-50]
		})
	h.add("swapped-groups", "the last two groups changed places", manifest.CorruptTail, 3,
		codes(manifest.ManifestDamaged),
		func(files map[string][]byte) {
			m, a, b := files[h.manifest()], h.heads[0].Bytes, h.heads[1].Bytes
			files[h.manifest()] = slices.Concat(m[:a], m[b:], m[a:b])
		})
}

// others: repeated references, unknown events, newer versions, missing objects.
func (h *corpusBuilder) others() {
	h.add("repeated-snapshot", "a node refers to a snapshot that is pinned already", manifest.Healthy, 12, nil,
		func(files map[string][]byte) {
			events := slices.Clone(h.seg.Events)
			node := events[1].Data.(event.NodeCreated)
			node.SnapshotRef = suite.NewSessionFixture(1).Snapshot(0).Ref()
			events[1].Data = node
			h.commit(files, events)
		})
	h.add("foreign-event", "a kind of event that this version does not know", manifest.UnknownVersion, 12,
		codes(manifest.UnknownEvents),
		func(files map[string][]byte) { h.rename(files, "") })
	h.add("ignorable-event", "an unknown kind that an older version may skip", manifest.Healthy, 12, nil,
		func(files map[string][]byte) { h.rename(files, `"ignorable":true,`) })
	missing := suite.NewSessionFixture(1).Snapshot(1).Ref()
	name := "snapshots/" + manifest.ObjectName(manifest.Snapshot, missing)
	h.add("missing-snapshot", "the log is whole, a snapshot that it refers to is gone", manifest.Healthy, 9, nil,
		func(files map[string][]byte) { delete(files, name) }).want.Objects = []string{name}
	newer := h.add("newer-store", "store.json is of a later format", "", 0, nil,
		func(files map[string][]byte) { files["store.json"] = storeJSON(h.t, 2, nil) })
	newer.want.Open = fault.StoreNewer
	feature := h.add("newer-feature", "store.json names a feature that must be known to open the store", "", 0, nil,
		func(files map[string][]byte) {
			files["store.json"] = storeJSON(h.t, 1, map[string][]string{"incompat": {"shards"}})
		})
	feature.want.Open = fault.StoreNewer
}

// commit writes one more segment and its group.
func (h *corpusBuilder) commit(files map[string][]byte, events []event.Event) {
	seg, err := manifest.EncodeSegment(h.log, events)
	fatal(h.t, err)
	files[h.segment(seg.First, seg.Last)] = seg.Bytes
	files[h.manifest()] = append(files[h.manifest()], manifest.Group(h.log, h.heads[2], seg)...)
}

// rename changes the kind of the edge event in the next segment to one that no version knows.
func (h *corpusBuilder) rename(files map[string][]byte, flag string) {
	b := bytes.Replace(h.seg.Bytes, []byte(`"kind":"edge_created"`), []byte(flag+`"kind":"edge_foreseen"`), 1)
	if bytes.Equal(b, h.seg.Bytes) {
		h.t.Fatal("no edge to rename")
	}
	seg, err := manifest.DecodeSegment(h.log, 9, 11, b)
	fatal(h.t, err)
	files[h.segment(9, 11)] = b
	files["snapshots/"+manifest.ObjectName(manifest.Snapshot, h.snapshot.Ref())] = h.snapshot.Bytes
	files[h.manifest()] = append(files[h.manifest()], manifest.Group(h.log, h.heads[2], seg)...)
}

// referred returns the objects that an event refers to.
func referred(e event.Event) map[manifest.ObjectKind]canon.Digest {
	switch data := e.Data.(type) {
	case event.NodeCreated:
		return map[manifest.ObjectKind]canon.Digest{manifest.Snapshot: data.SnapshotRef}
	case event.RunStarted:
		return map[manifest.ObjectKind]canon.Digest{manifest.Workflow: data.WorkflowHash}
	case proposal.Created:
		return map[manifest.ObjectKind]canon.Digest{manifest.Artifact: data.Artifact.SHA256}
	}
	return nil
}
