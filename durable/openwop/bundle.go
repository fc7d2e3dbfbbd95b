package openwop

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
)

// BundleVersion is the version of debug bundles.
const BundleVersion = "1.0"

// BundleBytesMax bounds a debug bundle, in bytes of JSON as it is sent: with escapes for invisible characters
// (docs/design.md#printed-bytes).
const BundleBytesMax = 8 << 20

// DebugBundle is one run for diagnosis: its state, its events and its annotations. Every
// text in it is redacted.
type DebugBundle struct {
	BundleVersion string `json:"bundleVersion"`
	GeneratedAt   string `json:"generatedAt"`
	Host          Host   `json:"host"`
	// Run is the state of the run after all of its events, also where Events is truncated.
	Run    Snapshot      `json:"run"`
	Events []RunEvent    `json:"events"`
	Spans  []canon.Value `json:"spans"` // Waybill records none
	// Metrics counts the events in the bundle.
	Metrics          Metrics       `json:"metrics"`
	Annotations      []canon.Value `json:"annotations"`
	RedactionApplied bool          `json:"redactionApplied"`
	RedactionMode    string        `json:"redactionMode"` // always "mask"
	// Truncated reports that later events or annotations are left out, for TruncatedReason.
	Truncated       bool   `json:"truncated,omitzero"`
	TruncatedReason string `json:"truncatedReason,omitzero"`
}

// Host identifies the program that made a bundle.
type Host struct {
	Name    string `json:"name"`
	Vendor  string `json:"vendor,omitzero"`
	Version string `json:"version"`
}

// annotationsBytesMax bounds the annotations in a bundle: they leave room for events.
const annotationsBytesMax = BundleBytesMax / 4

// sizeOf is the number of bytes of a document as it is sent.
func sizeOf(doc any) (int, error) {
	text, err := canon.Marshal(doc)
	return len(invisible.EscapeJSON(text)), err
}

// BundleEvents collects the first events of a run that a bundle can have; it drops the others.
type BundleEvents struct {
	kept  []RunEvent
	bytes []int // of the event at the same index, with a comma
	size  int   // the sum of bytes
	cut   bool
}

// Add adds the next event of the run. Without room it is dropped, and so are all that follow.
func (b *BundleEvents) Add(e RunEvent) error {
	if b.cut {
		return nil
	}
	size, err := sizeOf(e)
	if err != nil {
		return err
	}
	size += len(",")
	if b.cut = b.size+size > BundleBytesMax; !b.cut {
		b.kept, b.bytes, b.size = append(b.kept, e), append(b.bytes, size), b.size+size
	}
	return nil
}

// NewDebugBundle returns a bundle of at most BundleBytesMax bytes: the first events and annotations of a
// run that fit. The states of nodes are left out where they alone do not fit.
func NewDebugBundle(at string, host Host, run Snapshot, events *BundleEvents, annotations []canon.Value) (DebugBundle, error) {
	b := DebugBundle{BundleVersion: BundleVersion, GeneratedAt: at, Host: host, Run: run, Events: []RunEvent{},
		Spans: []canon.Value{}, Annotations: []canon.Value{}, RedactionApplied: true, RedactionMode: "mask", Truncated: true,
		TruncatedReason: "events_truncated_to_size_cap", Metrics: Metrics{int64(len(events.kept)), run.Metrics.NodeCount}}
	empty, err := sizeOf(b)
	if err == nil && empty > BundleBytesMax/2 {
		b.Run.NodeStates = map[string]NodeState{}
		empty, err = sizeOf(b)
	}
	if err != nil {
		return b, err
	}
	left, room := BundleBytesMax-empty, annotationsBytesMax
	for _, a := range annotations {
		size, err := sizeOf(a)
		if err != nil {
			return b, err
		}
		size += len(",")
		if room -= size; room < 0 {
			break
		}
		left -= size
		b.Annotations = append(b.Annotations, a)
	}
	n := 0
	for n < len(events.kept) && events.bytes[n] <= left {
		left -= events.bytes[n]
		n++
	}
	b.Events = append(b.Events, events.kept[:n]...)
	b.Metrics.EventCount = int64(n)
	if n == len(events.kept) && !events.cut && len(b.Annotations) == len(annotations) &&
		len(b.Run.NodeStates) == len(run.NodeStates) {
		b.Truncated, b.TruncatedReason = false, ""
	}
	return b, nil
}
