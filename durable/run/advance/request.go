package advance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/sorting"
)

// ApprovalKind is the artifact kind that only approvals may write
// (docs/design.md#requirements-on-the-caller).
const ApprovalKind = decision.ApprovalKind

// jsonType is the content type of artifacts that are JSON values.
const jsonType = "application/json"

// nameMax bounds the parts of an artifact that events contain as names, its kind and a
// divergence's related step, since a message must be able to quote them.
const nameMax = limits.MessageBytesMax

// contentType matches a media type as in RFC 6838, with ASCII parameters.
var contentType = pattern.New(`^[a-zA-Z0-9!#$&^_.+-]{1,64}/[a-zA-Z0-9!#$&^_.+-]{1,64}(;[ -~]{0,64})?$`)

// Artifact is a structured result sent with an attempt: a JSON value, or a file of another
// type.
type Artifact struct {
	ContentType string
	Bytes       []byte
	JSON        canon.Value // null unless ContentType is application/json
}

// JSONArtifact returns an artifact whose stored bytes are the value's canonical JSON.
//
//go:noinline
func JSONArtifact(v canon.Value) Artifact {
	return Artifact{ContentType: jsonType, Bytes: v.JCS(), JSON: v}
}

// Kind returns the member "kind" of a JSON object, else "".
//
//go:noinline
func (a Artifact) Kind() string {
	kind, _ := a.JSON.Get("kind")
	return kind.Text()
}

// describe returns the artifact's part in a request's digest: the value itself, or the
// content type and digest of the bytes.
func (a Artifact) describe() canon.Value {
	if a.ContentType == jsonType {
		return a.JSON
	}
	return canon.OfMembers(
		canon.Member{Name: "contentType", Value: canon.OfString(a.ContentType)},
		canon.Member{Name: "sha256", Value: canon.OfString(canon.Sum(a.Bytes).String())})
}

// Request is the content of an attempt. Absent parts are zero.
type Request struct {
	Notes       string
	Artifacts   []Artifact
	Context     canon.Value // an object; null members delete
	Preferences []event.PreferenceChange
	// Elicited is what of the context, or besides it, the user of the caller was asked for; nil: nothing.
	Elicited *event.Elicited
	// Response is how the attempt answers a gate of the host; nil for any other one. Only a performer sends it.
	Response *event.Response
}

// withoutElicited is the context as the caller sent it. A call that is repeated because its answer was
// lost is the same request, whether or not the user is asked again.
func (r Request) withoutElicited() canon.Value {
	out := r.Context
	if r.Elicited != nil {
		for _, key := range r.Elicited.Inputs {
			out = out.Without(key)
		}
	}
	return out
}

// wholeNotes returns the artifact of notes that the recap cannot hold, false for shorter ones
// (docs/design.md#whole-notes).
func (r Request) wholeNotes() (event.OutputPayload, bool) {
	if len(r.Notes) <= limits.NotesBytesMax {
		return event.OutputPayload{}, false
	}
	return event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: event.FullNotesKind,
		ContentType: event.FullNotesType, ByteLength: int64(len(r.Notes)), SHA256: canon.Sum([]byte(r.Notes))}, true
}

// Sent returns the artifacts of the caller: the results of checks are the performer's.
func (r Request) Sent() []Artifact {
	if !slices.ContainsFunc(r.Artifacts, isCheckResult) {
		return r.Artifacts
	}
	return slices.DeleteFunc(slices.Clone(r.Artifacts), isCheckResult)
}

// isCheckResult reports the result of a check.
func isCheckResult(a Artifact) bool { return a.Kind() == check.Kind }

// Digest returns the requestDigest: that of the canonical JSON of artifacts, context,
// notesMarkdown and preferences, without absent ones (docs/design.md#lines-and-files). The results of
// checks are left out, and what was elicited: a repeated call, which has none, is the same request.
func (r Request) Digest() canon.Digest {
	doc := canon.OfMembers()
	if sent := r.Sent(); len(sent) > 0 {
		items := make([]canon.Value, len(sent))
		for i, a := range sent {
			// The order of sending is part of the digest.
			items[i] = a.describe()
		}
		doc = doc.With("artifacts", canon.OfList(items...))
	}
	if sent := r.withoutElicited(); sent.Kind() == canon.Object && sent.Len() > 0 {
		doc = doc.With("context", sent)
	}
	if r.Notes != "" {
		doc = doc.With("notesMarkdown", canon.OfString(r.Notes))
	}
	if len(r.Preferences) > 0 {
		prefs := canon.OfMembers()
		for _, c := range r.Preferences {
			prefs = prefs.With(c.Key, canon.OfString(c.Value))
		}
		doc = doc.With("preferences", prefs)
	}
	return canon.Sum(doc.JCS())
}

// Placeholder marks the values that a caller must replace in a prepared call.
const Placeholder = "…"

// filledIn refuses a prepared call whose placeholder was not replaced: it would be accepted
// as notes and complete the step.
func (r Request) filledIn() error {
	if strings.TrimSpace(r.Notes) == Placeholder {
		return fault.New(fault.ValidationError, "the notes are %q, the placeholder of a prepared call", Placeholder).
			Suggest("Replace it with what was done, decided and found.").With("pointer", "/output/notesMarkdown")
	}
	return contextFilledIn(r.Context)
}

// contextFilledIn refuses placeholders in a context, also in that of a start.
func contextFilledIn(v canon.Value) error {
	for i := range v.Len() {
		if v.Kind() != canon.Object || v.Item(i).Text() != Placeholder {
			continue
		}
		// Only strings equal to the placeholder: a value may well contain an ellipsis.
		key := v.Key(i)
		return fault.New(fault.ValidationError, "context key %q is %q, the placeholder of a prepared call", key,
			Placeholder).
			Suggest("Replace it with the value of %s.", key).
			With("pointer", "/context/"+canon.EscapePointer(key))
	}
	return nil
}

// inOrder returns the artifacts in stored order, by (sha256, contentType), each once
// (docs/design.md#event-order).
func (r Request) inOrder() []Artifact {
	out := slices.Clone(r.Artifacts)
	sorting.Stable(out, func(a, b Artifact) int { return stored(a.Payload(), b.Payload()) })
	return slices.CompactFunc(out, func(a, b Artifact) bool { return stored(a.Payload(), b.Payload()) == 0 })
}

// Check refuses a request that cannot be recorded: VALIDATION_ERROR, with measuredBytes and
// maxBytes if a size is exceeded.
func (r Request) Check() error {
	if !utf8.ValidString(r.Notes) {
		return fault.New(fault.ValidationError, "the notes are not valid UTF-8")
	}
	if len(r.Notes) > limits.WholeNotesBytesMax {
		return NotesTooLarge(len(r.Notes))
	}
	if err := r.filledIn(); err != nil {
		return err
	}
	if n := len(r.Sent()); n > limits.ArtifactsMax {
		return fault.New(fault.ValidationError, "%d artifacts were sent; at most %d are allowed", n, limits.ArtifactsMax)
	}
	for i, a := range r.Artifacts {
		if err := a.check(i); err != nil {
			return err
		}
	}
	// The effective preferences do not matter for validity.
	_, err := applyPreferences(event.DefaultPreferences(), r.Preferences)
	return cmp.Or(CheckContext(r.Context), err)
}

// check refuses empty and oversized artifacts, invalid content types, and the reserved kind.
// i is the artifact's index in the request.
func (a Artifact) check(i int) error {
	switch {
	case len(a.Bytes) == 0:
		return fault.New(fault.ValidationError, "artifact %d is empty", i)
	case len(a.Bytes) > limits.ArtifactBytesMax:
		return tooLarge(fmt.Sprintf("artifact %d", i), len(a.Bytes), limits.ArtifactBytesMax)
	case !contentType.MatchString(a.ContentType):
		return fault.New(fault.ValidationError, "artifact %d has the content type %q; want type/subtype", i,
			a.ContentType)
	case len(a.Kind()) > nameMax:
		return tooLarge(fmt.Sprintf("the kind of artifact %d", i), len(a.Kind()), nameMax)
	// An agent could otherwise approve its own work.
	case a.Kind() == ApprovalKind:
		return fault.New(fault.ValidationError, "artifact %d is of kind %s, which only 'waybill approve' writes", i,
			ApprovalKind)
	// It would pass for the notes of the attempt.
	case a.Kind() == event.FullNotesKind:
		return fault.New(fault.ValidationError, "artifact %d is of kind %s, which the engine writes for long notes", i,
			event.FullNotesKind).
			Suggest("Send the text as notes: up to %d bytes are kept whole.", limits.WholeNotesBytesMax)
	}
	return nil
}

// NotesTooLarge is the fault for notes that are over their budget.
func NotesTooLarge(got int) *fault.Fault {
	return fault.New(fault.ValidationError, "the notes: %d bytes, at most %d are allowed", got,
		limits.WholeNotesBytesMax).
		Suggest("Keep the text in a file, attach it as an artifact, and write in the notes what it holds.").
		With("measuredBytes", got).With("maxBytes", limits.WholeNotesBytesMax)
}

// tooLarge is the fault for content over its budget.
func tooLarge(what string, got, most int) error {
	return fault.New(fault.ValidationError, "%s: %d bytes, at most %d are allowed", what, got, most).
		Suggest("Store large content in files and pass their paths.").
		With("measuredBytes", got).With("maxBytes", most)
}

// CheckContext refuses a context that is not an object, contains a reserved key or exceeds
// its budget (docs/design.md#context). An absent context is valid.
func CheckContext(v canon.Value) error {
	if v.IsNull() {
		return nil
	}
	err := event.CheckContext(v)
	if err == nil {
		return nil
	}
	f := fault.New(fault.ValidationError, "%v", err)
	// Sizes are measured as canonical JSON, which is what is stored.
	if event.IsContextBudget(err) {
		f.Suggest("Remove large values from the context and pass references, such as file paths, instead.").
			With("measuredBytes", len(v.JCS())).With("maxBytes", limits.ContextBytesMax).
			With("method", "RFC 8785 UTF-8 bytes")
	}
	return f
}

// Unfit returns why a value cannot be part of a context, as a clause; "" if it can. vars is the
// context with the value.
func Unfit(vars, v canon.Value) string {
	if v.Text() == Placeholder {
		return fmt.Sprintf("it is %q, the placeholder of a prepared call", Placeholder)
	}
	err := event.CheckContext(vars)
	switch {
	case err == nil:
		return ""
	case event.IsContextBudget(err):
		return fmt.Sprintf("the context would have %d bytes with it, at most %d are allowed", len(vars.JCS()),
			limits.ContextBytesMax)
	}
	return "the context cannot hold it: " + err.Error()
}

// applyPreferences returns p with the changes, or VALIDATION_ERROR for an unknown key or
// value or a repeated key.
func applyPreferences(p event.Preferences, changes []event.PreferenceChange) (event.Preferences, error) {
	seen := map[string]bool{}
	for _, c := range changes {
		after, err := p.Apply(c)
		if err == nil && seen[c.Key] {
			err = fmt.Errorf("preference %q is given twice", c.Key)
		}
		if err != nil {
			return p, fault.New(fault.ValidationError, "preferences: %v", err).
				Suggest("Autonomy is guided, full_auto_stop_on_user_deps or full_auto_never_stop; riskPolicy is " +
					"conservative, balanced or aggressive.")
		}
		p, seen[c.Key] = after, true
	}
	return p, nil
}
