package openwop

import "github.com/waybill/waybill/durable/canon"

// BundleVersion is the version of debug bundles.
const BundleVersion = "1.0"

// BundleBytesMax bounds a debug bundle, in bytes of canonical JSON.
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

// NewDebugBundle returns a bundle of at most BundleBytesMax bytes: the first events and annotations of a
// run that fit.
func NewDebugBundle(at string, host Host, run Snapshot, events []RunEvent, annotations []canon.Value) (DebugBundle, error) {
	b := DebugBundle{BundleVersion: BundleVersion, GeneratedAt: at, Host: host, Run: run, Events: []RunEvent{},
		Spans: []canon.Value{}, Annotations: []canon.Value{}, RedactionApplied: true, RedactionMode: "mask", Truncated: true,
		TruncatedReason: "events_truncated_to_size_cap", Metrics: Metrics{int64(len(events)), run.Metrics.NodeCount}}
	empty, err := canon.Marshal(b)
	if err != nil {
		return b, err
	}
	left, room := BundleBytesMax-len(empty), annotationsBytesMax
	for _, a := range annotations {
		size := len(a.JCS()) + len(",")
		if room -= size; room < 0 {
			break
		}
		left -= size
		b.Annotations = append(b.Annotations, a)
	}
	for _, e := range events {
		text, err := canon.Marshal(e)
		if err != nil {
			return b, err
		}
		if left -= len(text) + len(","); left < 0 {
			break
		}
		b.Events = append(b.Events, e)
	}
	b.Metrics.EventCount = int64(len(b.Events))
	if len(b.Events) == len(events) && len(b.Annotations) == len(annotations) {
		b.Truncated, b.TruncatedReason = false, ""
	}
	return b, nil
}
