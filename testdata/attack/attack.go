// Package attack makes session bundles that no exporter writes: a base bundle with one change
// each, and every digest computed again. The result depends on the package alone, so that a test
// which fails can be repeated. Start with Cases and Case.Write.
package attack

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
)

// base holds the parts of a bundle that can be imported and continued: a pinned workflow, the
// snapshot of the root, and the events of a start, which name the two as @WORKFLOW@ and
// @SNAPSHOT@.
//
//go:embed base.json
var base []byte

// Session is the session of every bundle.
const Session = "sess_ajuzzqpa5cbpj7hulnrpl5t7yy"

// Change replaces a text in the canonical form of a part. The text occurs there.
type Change struct {
	Part     Part
	Old, New string
}

// Part is a part of the bundle.
type Part string

// The parts.
const (
	Workflow Part = "workflow"
	Snapshot Part = "snapshot"
	Events   Part = "events"
)

// Case is one bundle.
type Case struct {
	Name    string
	Changes []Change
	// Grow adds events after those of the base, if it is not nil.
	Grow func(*history)
	// Accepted: it is imported. All other bundles are refused.
	Accepted bool
}

// text returns the canonical form of a part with the changes of the case.
func (c Case) text(part Part) (string, error) {
	var all map[Part]json.RawMessage
	if err := json.Unmarshal(base, &all); err != nil {
		return "", err
	}
	data, err := canon.Canonicalize(all[part])
	if err != nil {
		return "", err
	}
	text := string(data)
	for _, change := range c.Changes {
		if change.Part != part {
			continue
		}
		if !strings.Contains(text, change.Old) {
			return "", fmt.Errorf("%s: %s does not contain %s", c.Name, part, change.Old)
		}
		text = strings.Replace(text, change.Old, change.New, 1)
	}
	data, err = canon.Canonicalize([]byte(text))
	return string(data), err
}

// Write writes the bundle with the digests of its changed parts.
func (c Case) Write(out io.Writer) error {
	workflow, err := c.text(Workflow)
	if err != nil {
		return err
	}
	snapshot, err := c.text(Snapshot)
	if err != nil {
		return err
	}
	events, err := c.text(Events)
	if err != nil {
		return err
	}
	flow, snap := canon.Sum([]byte(workflow)), canon.Sum([]byte(snapshot))
	lines, err := c.lines(events, flow, snap)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	records, err := chain(lines)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	w, err := bundle.NewWriter(out, bundle.Envelope{BundleID: "bundle_aaaaaaaaaaaaaaaaaaaaaaaaaa",
		ExportedAt: "2026-01-02T03:04:05.006Z", Producer: bundle.Producer{AppVersion: "1.2.3"}, SessionID: Session})
	if err != nil {
		return err
	}
	for _, line := range lines {
		_ = w.Event(line) // the first error is that of every later call
	}
	for _, record := range records {
		_ = w.Record(record)
	}
	_ = w.Object(manifest.Snapshot, snap, -1, strings.NewReader(snapshot))
	_ = w.Object(manifest.Workflow, flow, -1, strings.NewReader(workflow))
	return w.Close()
}

// lines returns the events as they are stored: those of the base, and those that Grow adds.
func (c Case) lines(events string, workflow, snap canon.Digest) (lines [][]byte, err error) {
	list, err := canon.Parse([]byte(strings.NewReplacer("@WORKFLOW@", workflow.String(), "@SNAPSHOT@", snap.String()).
		Replace(events)))
	if err != nil {
		return nil, err
	}
	for i := range list.Len() {
		lines = append(lines, list.Item(i).JCS())
	}
	if c.Grow == nil {
		return lines, nil
	}
	more, err := longer(c.Grow, workflow, snap, int64(len(lines)))
	for line := range bytes.Lines(more) {
		lines = append(lines, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	return lines, err
}

// segmentBytes is the size after which a segment ends.
const segmentBytes = 1 << 20

// segments divides the lines into those of each segment, before an attempt or a start.
func segments(lines [][]byte) (parts [][][]byte) {
	from, size := 0, 0
	for i, line := range lines {
		begins := bytes.Contains(line, []byte(`"kind":"advance_recorded"`)) ||
			bytes.Contains(line, []byte(`"kind":"run_started"`))
		if begins && size > segmentBytes {
			parts, from, size = append(parts, lines[from:i]), i, 0
		}
		size += len(line)
	}
	return append(parts, lines[from:])
}

// chain returns the groups that commit the segments of the events. Events that no reader accepts
// are committed with the digest of their bytes.
func chain(lines [][]byte) (records [][]byte, err error) {
	session, err := id.ParseSession(Session)
	if err != nil {
		return nil, err
	}
	log, head := manifest.SessionEvents(session), manifest.Head{}
	for _, part := range segments(lines) {
		segment := append(bytes.Join(part, []byte{'\n'}), '\n')
		seg, err := manifest.DecodeSegment(log, head.Next, head.Next+int64(len(part))-1, segment)
		if err != nil {
			return nil, err
		}
		group := manifest.Group(log, head, seg)
		for record := range bytes.Lines(group) {
			records = append(records, bytes.TrimSuffix(record, []byte{'\n'}))
		}
		head = head.After(group, seg)
	}
	return records, nil
}
