package proposal

import (
	"bytes"
	"path"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// ReadFile is ReadAny for callers that treat all files alike.
func ReadFile(name string, data []byte) (canon.Value, error) {
	root, _, err := ReadAny(name, data)
	return root, err
}

// ReadAny reads the file of a proposal, or of a revision; alone reports that it is a workflow by itself. The extension of its name selects JSON or YAML;
// under another name, a text that begins with a brace or a bracket is JSON. A workflow by itself becomes
// the artifact of an object like that of any other file. VALIDATION_ERROR if the text cannot be read.
func ReadAny(name string, data []byte) (root canon.Value, alone bool, err error) {
	if len(data) > limits.ProposalFileBytesMax {
		return root, false, refuse("file", atMost(limits.ProposalFileBytesMax), sized(len(data)))
	}
	data = canon.WithoutBOM(data)
	parse, language := canon.Parse, "JSON"
	start := bytes.TrimLeft(data, " \t\r\n")
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".yaml", ext == ".yml", name != "" && ext != ".json" && len(start) > 0 && start[0] != '{' && start[0] != '[':
		parse, language = yaml.Parse, "YAML"
		if n := yaml.CountValues(data); n > limits.WorkflowValuesMax {
			return root, false, refuse("file", "a YAML text of fewer values", "too many values").
				Suggest("Write the file as JSON.")
		}
	}
	if root, err = parse(data); err != nil {
		return canon.Value{}, false, unread(language, err)
	}
	if IsWorkflow(root) {
		return canon.OfMembers(canon.Member{Name: fieldKind, Value: canon.OfString(string(WorkflowChainPack))},
			canon.Member{Name: fieldArtifact, Value: root}), true, nil
	}
	return root, false, nil
}

// IsWorkflow reports an object that is a workflow, and no file of a proposal.
func IsWorkflow(root canon.Value) bool {
	_, steps := root.Get("steps")
	_, artifact := root.Get(fieldArtifact)
	return root.Kind() == canon.Object && steps && !artifact
}

// Given are the texts that a caller gives beside a file, nil where it gives none.
type Given struct{ Title, Rationale *string }

// Over returns the object of a file with these texts in place of its own.
func (g Given) Over(root canon.Value) canon.Value {
	if root.Kind() != canon.Object {
		return root // refused by what reads it
	}
	if g.Title != nil {
		root = root.With(fieldTitle, canon.OfString(*g.Title))
	}
	if g.Rationale != nil {
		root = root.With(fieldRationale, canon.OfString(*g.Rationale))
	}
	return root
}

// Merged returns the object of a file for a revision of a proposal: what patch has, and the rest from the
// proposal as it is. A member null removes a text, or what is replaced. What is replaced is not kept for an
// artifact of another id. VALIDATION_ERROR for a patch that is no object.
func Merged(now Proposal, replaces Replaces, patch canon.Value) (canon.Value, error) {
	if patch.Kind() != canon.Object {
		return patch, refuse("file", "an object with title, rationale or artifact", patch.Kind().String())
	}
	out := canon.OfMembers()
	kept := map[string]canon.Value{fieldKind: canon.OfString(string(now.Kind)), fieldArtifact: now.Artifact}
	for name, value := range map[string]string{fieldTitle: now.Title, fieldRationale: now.Rationale} {
		if value != "" {
			kept[name] = canon.OfString(value)
		}
	}
	artifact, revised := patch.Get(fieldArtifact)
	if s, _, err := SlotOf(now.Kind, artifact); !revised || err == nil && IsWorkflow(artifact) && s.ID == replaces.WorkflowID {
		kept[fieldReplaces] = replaces.object()
	}
	for _, name := range fields {
		if v, ok := kept[name]; ok && !has(patch, name) && !v.IsNull() {
			out = out.With(name, v)
		}
	}
	for i := range patch.Len() {
		removes := patch.Key(i) == fieldTitle || patch.Key(i) == fieldRationale || patch.Key(i) == fieldReplaces
		if v := patch.Item(i); !removes || !v.IsNull() {
			out = out.With(patch.Key(i), v)
		}
	}
	return out, nil
}

// has reports whether an object has a member.
func has(v canon.Value, name string) bool {
	_, ok := v.Get(name)
	return ok
}
