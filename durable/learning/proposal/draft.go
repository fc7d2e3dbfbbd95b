package proposal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Draft is what somebody proposes, as it may be stored: its secrets are taken out, and
// the artifact is named by the digest of what is left.
type Draft struct {
	Kind             Kind
	Title, Rationale string // "" where none was given
	SynthesizerModel string
	SourceRunIDs     []id.Run // each once
	Artifact         Artifact
	Bytes            []byte // the artifact in JCS: what is stored and, byte for byte, installed
	Slot             Slot
	Version          string
	// Redacted is what was taken out, in the order of the file.
	Redacted []Redaction
}

// The members of a file.
const (
	fieldKind      = "kind"
	fieldTitle     = "title"
	fieldRationale = "rationale"
	fieldArtifact  = "artifact"
	fieldModel     = "synthesizerModel"
	fieldRuns      = "sourceRunIds"
)

var fields = []string{fieldKind, fieldTitle, fieldRationale, fieldArtifact, fieldModel, fieldRuns}

// ParseFile reads a proposal's file: {kind, title?, rationale?, artifact} and, where a
// program wrote it, {synthesizerModel?, sourceRunIds?}. Anything else is VALIDATION_ERROR
// with field, expected and got. An artifact that is unsound for its kind is no error: it
// is a draft, and is checked where it is applied.
func ParseFile(data []byte) (Draft, error) {
	if len(data) > limits.ProposalFileBytesMax {
		return Draft{}, refuse("file", atMost(limits.ProposalFileBytesMax), sized(len(data)))
	}
	root, err := canon.Parse(data)
	if err != nil {
		return Draft{}, unread(err)
	}
	if err := checkShape(root); err != nil {
		return Draft{}, err
	}
	d := Draft{Kind: Kind(textOf(root, fieldKind)), Redacted: redactions(root, redact.Value(root, nil))}
	for _, t := range []struct {
		field    string
		bytesMax int
		to       *string
	}{{fieldTitle, limits.ProposalTitleBytesMax, &d.Title}, {fieldRationale, limits.RationaleBytesMax, &d.Rationale},
		{fieldModel, limits.ActorRefMax, &d.SynthesizerModel}} {
		given := textOf(root, t.field)
		if len(given) > t.bytesMax {
			return Draft{}, refuse(t.field, atMost(t.bytesMax), sized(len(given)))
		}
		*t.to = clean(strings.TrimSpace(given), t.bytesMax)
	}
	if d.SourceRunIDs, err = runsOf(root); err != nil {
		return Draft{}, err
	}
	artifact, _ := root.Get(fieldArtifact)
	return d.with(artifact)
}

// with takes the artifact over. Its digest is that of the redacted bytes, which are all
// that ever reaches a disk.
func (d Draft) with(artifact canon.Value) (Draft, error) {
	artifact = redact.Value(artifact, nil)
	// An answer that shows it puts levels around it, and has to be readable itself.
	if err := artifact.Strict(limits.ContextDepthMax); err != nil {
		return Draft{}, refuse(fieldArtifact, fmt.Sprintf("an object of at most %d levels", limits.ContextDepthMax),
			plain(err.Error()))
	}
	d.Bytes = artifact.JCS()
	if len(d.Bytes) > limits.SourceBytesMax {
		return Draft{}, refuse(fieldArtifact, atMost(limits.SourceBytesMax), sized(len(d.Bytes)))
	}
	d.Artifact = Artifact{ByteLength: int64(len(d.Bytes)), SHA256: canon.Sum(d.Bytes)}
	d.Slot, d.Version, _ = SlotOf(d.Kind, artifact) // a draft may be unsound; whoever applies it asks again
	return d, nil
}

// checkShape refuses unknown and missing members and wrong types.
func checkShape(root canon.Value) error {
	if root.Kind() != canon.Object {
		return refuse("file", "an object with kind and artifact", root.Kind().String())
	}
	for i := range root.Len() {
		name := root.Key(i)
		if slices.Contains(fields, name) {
			continue
		}
		f := refuse(plain(name), "only "+strings.Join(fields, ", "), "a member of another name")
		if meant := nearest.Of(name, fields); meant != "" {
			f.Suggest("Write %q.", meant)
		}
		return f
	}
	for _, m := range []struct {
		name string
		kind canon.Kind
		need bool
	}{{fieldKind, canon.String, true}, {fieldArtifact, canon.Object, true}, {fieldTitle, canon.String, false},
		{fieldRationale, canon.String, false}, {fieldModel, canon.String, false}, {fieldRuns, canon.Array, false}} {
		v, ok := root.Get(m.name)
		switch {
		case !ok && m.need:
			return refuse(m.name, m.kind.String(), "nothing")
		case ok && v.Kind() != m.kind:
			return refuse(m.name, m.kind.String(), v.Kind().String())
		}
	}
	if k := textOf(root, fieldKind); !Kind(k).Known() {
		f := refuse(fieldKind, "one of "+strings.Join(kindWords(), ", "), fmt.Sprintf("%q", plain(k)))
		if meant := nearest.Of(k, kindWords()); meant != "" {
			f.Suggest("Write %q.", meant)
		}
		return f
	}
	return nil
}

// runsOf is the provenance, each run once.
func runsOf(root canon.Value) (out []id.Run, err error) {
	list, _ := root.Get(fieldRuns)
	for i := range list.Len() {
		field := fmt.Sprintf("%s/%d", fieldRuns, i)
		r, err := id.ParseRun(list.Item(i).Text())
		if err != nil {
			return nil, refuse(field, "the id of a run", shown(list.Item(i)))
		}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
		if len(out) > limits.SourceRunsMax {
			return nil, refuse(fieldRuns, fmt.Sprintf("at most %d runs", limits.SourceRunsMax),
				fmt.Sprintf("%d", list.Len()))
		}
	}
	return out, nil
}

// unread is a text that is no JSON, with its place.
func unread(err error) error {
	var pe *canon.ParseError
	if !errors.As(err, &pe) {
		return refuse("file", "JSON", plain(err.Error()))
	}
	f := refuse("file", "JSON", plain(pe.Reason)).With("line", pe.Line)
	return f.Suggest("Correct the text on line %d; nothing behind it was read.", pe.Line)
}

func textOf(root canon.Value, name string) string {
	v, _ := root.Get(name)
	return v.Text()
}

// plain is a text of the file that an error may repeat.
func plain(s string) string { return reason.Clip(redact.Text(s, nil), 96) }

// shown is a value that an error may repeat: its text, or else its type.
func shown(v canon.Value) string {
	if v.Kind() == canon.String {
		return fmt.Sprintf("%q", plain(v.Text()))
	}
	return v.Kind().String()
}

func kindWords() (out []string) {
	for _, k := range Kinds() {
		out = append(out, string(k))
	}
	return out
}

// CheckKind refuses, with VALIDATION_ERROR, a revision that is of another kind than its
// proposal: what was reviewed would be another thing.
func (d Draft) CheckKind(want Kind) error {
	if d.Kind == want {
		return nil
	}
	return refuse(fieldKind, string(want)+", as in the first revision", string(d.Kind)).
		Suggest("Propose it anew with 'waybill proposals create FILE'.")
}
