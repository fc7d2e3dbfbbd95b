package proposal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Replaces names what an artifact is used instead of, under the id of both: a file of the user or
// of the project, or what is installed (docs/design.md#replacing). The zero Replaces names nothing.
type Replaces struct {
	// Digest is the SHA-256 of the bytes: of the file, or of the installed workflow as JCS.
	Digest     canon.Digest      `json:"digest"`
	SourceKind source.SourceKind `json:"sourceKind"`
	// SourceRef is the place of a file, as lists of workflows show it; "" for what is installed.
	SourceRef  string `json:"sourceRef,omitzero"`
	WorkflowID string `json:"workflowId"`
}

// IsZero reports that nothing is named.
func (r Replaces) IsZero() bool { return r == Replaces{} }

// IsFile reports that a file is named.
func (r Replaces) IsFile() bool {
	return r.SourceKind == source.SourceUser || r.SourceKind == source.SourceProject
}

// String describes what is replaced: the place of a file, with its source.
func (r Replaces) String() string {
	if r.IsFile() {
		return fmt.Sprintf("%s (%s)", r.SourceRef, r.SourceKind)
	}
	return fmt.Sprintf("what is installed as %s", r.WorkflowID)
}

// replaceableKinds are the sources whose workflows can be replaced.
var replaceableKinds = []string{string(source.SourceUser), string(source.SourceProject), string(source.SourceInstalled)}

// check refuses a replacement that does not say what gives way to the artifact in a slot.
func (r Replaces) check(s Slot) error {
	switch {
	case r.IsZero():
		return nil
	case s.Kind != WorkflowChainPack || s.ID != r.WorkflowID:
		return fmt.Errorf("it replaces %q, and is %q", r.WorkflowID, s.ID)
	case r.Digest.IsZero():
		return errors.New("what it replaces has no digest")
	case r.IsFile() && !label(r.SourceRef, limits.PathMax):
		return fmt.Errorf("the path of the replaced file has %d bytes: want a line of 1 to %d", len(r.SourceRef), limits.PathMax)
	case !r.IsFile() && (r.SourceKind != source.SourceInstalled || r.SourceRef != ""):
		return fmt.Errorf("a workflow of the source %q cannot be replaced", r.SourceKind)
	}
	return nil
}

// object returns the object that is signed, null for the zero Replaces.
func (r Replaces) object() canon.Value {
	if r.IsZero() {
		return canon.Value{}
	}
	members := []canon.Member{{Name: "digest", Value: canon.OfString(r.Digest.String())},
		{Name: "sourceKind", Value: canon.OfString(string(r.SourceKind))}, {Name: "workflowId", Value: canon.OfString(r.WorkflowID)}}
	if r.SourceRef != "" {
		members = append(members, canon.Member{Name: "sourceRef", Value: canon.OfString(r.SourceRef)})
	}
	return canon.OfMembers(members...)
}

// replacesFields are the members of the member "replaces" of a proposal file.
var replacesFields = []string{"workflowId", "sourceKind", "digest", "sourceRef"}

// replacesOf reads the member "replaces" of a proposal file, zero without one. Its place may be absent:
// the caller finds the file by its digest. Whether it exists is not checked here.
func replacesOf(root canon.Value) (r Replaces, err error) {
	v, ok := root.Get(fieldReplaces)
	if !ok {
		return r, nil
	}
	for i := range v.Len() {
		if name := v.Key(i); !slices.Contains(replacesFields, name) {
			f := refuse(fieldReplaces+"/"+plain(name), "only "+strings.Join(replacesFields, ", "), "an unknown member")
			return r, suggestNearest(f, name, replacesFields)
		}
	}
	digest, err := canon.ParseDigest(textOf(v, "digest"))
	given, _ := v.Get("digest")
	switch kind := textOf(v, "sourceKind"); {
	case textOf(v, "workflowId") == "":
		return r, refuse(fieldReplaces+"/workflowId", "the id of a workflow", "nothing")
	case !slices.Contains(replaceableKinds, kind):
		return r, refuse(fieldReplaces+"/sourceKind", "one of "+strings.Join(replaceableKinds, ", "), fmt.Sprintf("%q", plain(kind)))
	case err != nil:
		return r, refuse(fieldReplaces+"/digest", "sha256: and 64 hexadecimal digits", shown(given))
	}
	return Replaces{WorkflowID: textOf(v, "workflowId"), SourceKind: source.SourceKind(textOf(v, "sourceKind")),
		Digest: digest, SourceRef: textOf(v, "sourceRef")}, nil
}

// WorkflowID returns the id of the draft's artifact if that is one workflow, else "".
func (d Draft) WorkflowID() string {
	artifact, err := canon.Parse(d.Bytes)
	if _, one := artifact.Get("steps"); err != nil || !one || d.Kind != WorkflowChainPack {
		return ""
	}
	return d.Slot.ID
}

// Replacing returns the draft with what its artifact replaces. VALIDATION_ERROR: the artifact is not one
// workflow of that id, or the place of the file cannot be stored.
func (d Draft) Replacing(r Replaces) (Draft, error) {
	if r.IsZero() {
		d.Replaces = r
		return d, nil
	}
	if d.WorkflowID() != r.WorkflowID || r.WorkflowID == "" {
		return d, refuse(fieldReplaces+"/workflowId", "the id of the artifact, which is one workflow", fmt.Sprintf("%q", plain(r.WorkflowID)))
	}
	// A path that looks like a secret cannot be stored, and another path names another file.
	if err := r.check(d.Slot); err != nil || redact.Text(r.SourceRef, nil) != r.SourceRef {
		return d, refuse(fieldReplaces+"/sourceRef", "the path of a file that can be stored", fmt.Sprintf("%q", plain(r.SourceRef)))
	}
	d.Replaces = r
	return d, nil
}
