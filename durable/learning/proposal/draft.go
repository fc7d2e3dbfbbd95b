package proposal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Draft is a proposal as it may be stored: redacted, with the artifact named by the digest of
// its redacted bytes.
type Draft struct {
	Kind             Kind
	Title, Rationale string // "" if absent
	SynthesizerModel string
	SourceRunIDs     []id.Run // distinct
	// RunRefs are the other names of source runs, such as @last and prefixes of ids, distinct.
	RunRefs  []string
	Replaces Replaces
	Artifact Artifact
	Bytes    []byte // the artifact as JCS: stored, and installed unchanged
	Slot     Slot
	Version  string
	// Redacted lists the redactions, in the order of the file.
	Redacted []redact.Finding
}

// The members of a proposal file.
const (
	fieldKind      = "kind"
	fieldTitle     = "title"
	fieldRationale = "rationale"
	fieldArtifact  = "artifact"
	fieldModel     = "synthesizerModel"
	fieldRuns      = "sourceRunIds"
	fieldReplaces  = "replaces"
)

// fields lists the members for messages, in the documented order.
var fields = []string{fieldKind, fieldTitle, fieldRationale, fieldArtifact, fieldModel, fieldRuns, fieldReplaces}

// ParseFile reads a proposal file in JSON; see ReadFile and DraftOf.
func ParseFile(data []byte) (Draft, error) {
	root, err := ReadFile("", data)
	if err != nil {
		return Draft{}, err
	}
	return DraftOf(root)
}

// DraftOf returns the draft in a proposal file: {kind, title?, rationale?, artifact} and, from programs,
// {synthesizerModel?, sourceRunIds?, replaces?}. Anything else is VALIDATION_ERROR with the details
// field, expected and got. An artifact that could not be installed is accepted as a draft; it
// is checked when it is approved and applied.
func DraftOf(root canon.Value) (Draft, error) {
	if err := checkShape(root); err != nil {
		return Draft{}, err
	}
	var found redact.Findings
	found.Value("", root)
	d := Draft{Kind: Kind(textOf(root, fieldKind)), Redacted: found.List()}
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
	if err := d.setRuns(root); err != nil {
		return Draft{}, err
	}
	replaces, err := replacesOf(root)
	if err != nil {
		return Draft{}, err
	}
	artifact, _ := root.Get(fieldArtifact)
	if d, err = d.with(artifact); err != nil || replaces.IsZero() {
		return d, err
	}
	if d.WorkflowID() != replaces.WorkflowID {
		return d.Replacing(replaces) // the refusal
	}
	d.Replaces = replaces
	return d, nil
}

// with sets the artifact, redacted. The digest is that of the redacted bytes: nothing else is
// ever written to disk. An artifact that is too deep or too large is VALIDATION_ERROR.
func (d Draft) with(artifact canon.Value) (Draft, error) {
	artifact = redact.Value(artifact, nil)
	// An answer nests the artifact in further levels, and must stay within the depth limit.
	if err := artifact.CheckStrict(limits.ContextDepthMax); err != nil {
		return Draft{}, refuse(fieldArtifact, fmt.Sprintf("an object of at most %d levels", limits.ContextDepthMax),
			plain(err.Error()))
	}
	d.Bytes = artifact.JCS()
	if len(d.Bytes) > limits.SourceBytesMax {
		return Draft{}, refuse(fieldArtifact, atMost(limits.SourceBytesMax), sized(len(d.Bytes)))
	}
	d.Artifact = Artifact{ByteLength: int64(len(d.Bytes)), SHA256: canon.Sum(d.Bytes)}
	// An error means that the draft cannot be applied yet; applying it checks again.
	d.Slot, d.Version, _ = SlotOf(d.Kind, artifact)
	return d, nil
}

// checkShape refuses unknown members, missing members and wrong types, with the nearest known
// name as a suggestion.
func checkShape(root canon.Value) error {
	if root.Kind() != canon.Object {
		return refuse("file", "an object with kind and artifact", root.Kind().String())
	}
	for i := range root.Len() {
		name := root.Key(i)
		if slices.Contains(fields, name) {
			continue
		}
		f := refuse(plain(name), "only "+strings.Join(fields, ", "), "an unknown member")
		return suggestNearest(f, name, fields)
	}
	for _, m := range []struct {
		name string
		kind canon.Kind
		need bool
	}{{fieldKind, canon.String, true}, {fieldArtifact, canon.Object, true}, {fieldTitle, canon.String, false},
		{fieldRationale, canon.String, false}, {fieldModel, canon.String, false}, {fieldRuns, canon.Array, false},
		{fieldReplaces, canon.Object, false}} {
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
		return suggestNearest(f, k, kindWords())
	}
	return nil
}

// suggestNearest adds the nearest known word to a refusal, if one is near.
func suggestNearest(f *fault.Fault, got string, known []string) *fault.Fault {
	if meant := nearest.Of(got, known); meant != "" {
		f.Suggest("Write %q.", meant)
	}
	return f
}

// setRuns sets the source runs, each once, in the order of the file. What is no id may be another name of
// a run; the caller finds it.
func (d *Draft) setRuns(root canon.Value) error {
	list, _ := root.Get(fieldRuns)
	if list.Len() > limits.SourceRunsMax {
		return refuse(fieldRuns, fmt.Sprintf("at most %d runs", limits.SourceRunsMax), fmt.Sprintf("%d", list.Len()))
	}
	for i := range list.Len() {
		ref := list.Item(i).Text()
		r, err := id.ParseRun(ref)
		switch {
		case err == nil && !slices.Contains(d.SourceRunIDs, r):
			d.SourceRunIDs = append(d.SourceRunIDs, r)
		case err == nil:
		case !runRef.MatchString(ref) || redact.Text(ref, nil) != ref:
			return refuse(fmt.Sprintf("%s/%d", fieldRuns, i), "the id of a run", shown(list.Item(i)))
		case !slices.Contains(d.RunRefs, ref):
			d.RunRefs = append(d.RunRefs, ref)
		}
	}
	return nil
}

// runRef is the form of names of runs: ids, prefixes of ids, and names such as @last.
var runRef = pattern.New(`^@?[A-Za-z0-9_]{1,64}$`)

// unread is the fault for a file that is not of a language, with the line of the error.
func unread(language string, err error) error {
	var pe *canon.ParseError
	if !errors.As(err, &pe) {
		return refuse("file", language, plain(err.Error()))
	}
	f := refuse("file", language, plain(pe.Reason)).With("line", pe.Line)
	return f.Suggest("Correct the text on line %d; the text after it was not read.", pe.Line)
}

// textOf returns a string member, "" if it is absent or of another type.
func textOf(root canon.Value, name string) string {
	v, _ := root.Get(name)
	return v.Text()
}

// plain redacts and shortens text from the file for a message.
func plain(s string) string { return reason.Clip(redact.Text(s, nil), 96) }

// shown formats a value for a message: its text, or its type.
func shown(v canon.Value) string {
	if v.Kind() == canon.String {
		return fmt.Sprintf("%q", plain(v.Text()))
	}
	return v.Kind().String()
}

// kindWords returns the kinds as strings, for messages.
func kindWords() (out []string) {
	for _, k := range Kinds() {
		out = append(out, string(k))
	}
	return out
}

// CheckKind refuses, with VALIDATION_ERROR, a revision whose kind differs from the first
// revision's: an approval or a rollback of a proposal concerns one slot kind.
func (d Draft) CheckKind(want Kind) error {
	if d.Kind == want {
		return nil
	}
	return refuse(fieldKind, string(want)+", as in the first revision", string(d.Kind)).
		Suggest("Create a new proposal with %s.", fault.Command{"proposals", "create", "FILE"})
}
