package source

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/redact"
)

// SourceKind is where a workflow file came from. It decides which namespaces its id may
// use (docs/design.md#workflow-ids).
type SourceKind string

// The source kinds. SourceInstalled marks a workflow that an applied proposal installed.
const (
	SourceBundled SourceKind = "bundled"
	SourceUser    SourceKind = "user"
	SourceProject SourceKind = "project"
	SourceRemote  SourceKind = "remote"
	SourcePlugin  SourceKind = "plugin"

	SourceInstalled SourceKind = "installed"
)

// namespaces are the namespaces that SuggestID proposes for workflows of a kind; "project" for
// the others.
var namespaces = map[SourceKind]string{SourceBundled: "wr", SourceUser: "user", SourceRemote: "repo",
	SourcePlugin: "repo"}

// idLengthMax bounds a workflow id, in bytes; ids are ASCII.
const idLengthMax = 64

// Workflow ids: namespaced ones are current, legacy ones are accepted with a warning.
var (
	namespaced = pattern.New(`^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$`)
	legacyID   = pattern.New(`^[a-z0-9_-]+$`)
	notInName  = pattern.New(`[^a-z0-9_]+`)
)

// IDStatus returns "namespaced" for an id of the form namespace.name, "legacy" for an id
// without a namespace, and "" for a text that is not a workflow id
// (docs/design.md#workflow-ids).
func IDStatus(id string) string {
	switch {
	case namespaced.MatchString(id):
		return "namespaced"
	case legacyID.MatchString(id):
		return "legacy"
	}
	return ""
}

// SuggestID returns the namespaced id that a workflow of this kind should have instead of
// id, at most 64 bytes long. The result depends on the arguments only, so that every
// machine suggests the same id for the same file.
func SuggestID(kind SourceKind, id string) string {
	// Keep the part after an existing namespace, which may be the wrong one.
	name := id
	if ns, rest, ok := strings.Cut(id, "."); ok && strings.Trim(rest, ".") != "" && ns != "" {
		name = rest
	}
	name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "_"), "_")
	// The name of a namespaced id starts with a letter.
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = "w_" + name
	}
	suggested := cmp.Or(namespaces[kind], "project") + "." + name
	return strings.TrimRight(suggested[:min(len(suggested), idLengthMax)], "_")
}

// SuggestUniqueID makes a suggested id that is already in use unique: it appends four
// hexadecimal digits of the digest of the workflow's source, never a time, so that the
// suggestion is reproducible (docs/design.md#workflow-ids).
func SuggestUniqueID(suggested string, source []byte) string {
	suffix := "_" + strings.TrimPrefix(canon.Sum(source).String(), "sha256:")[:4]
	return suggested[:min(len(suggested), idLengthMax-len(suffix))] + suffix
}

// Reserved reports an id in the namespace of published workflows, wr.
func Reserved(id string) bool { return strings.HasPrefix(id, "wr.") }

// MayReserve reports whether the files of a source may have reserved ids: bundled ones, and those of
// an attached folder, which a person attached and which are shown with its name.
func MayReserve(kind SourceKind) bool { return kind == SourceBundled || kind == SourcePlugin }

// checkID checks the workflow id against the namespace rules
// (docs/design.md#workflow-ids). Legacy ids are a warning: existing files use them.
func checkID(root problem.SourceValue, kind SourceKind, report problem.Report) {
	at := root.Member("id")
	id := at.Value.Text()
	if id == "" {
		return // the shape check reports it
	}
	like := id
	if IDStatus(id) == "" {
		like = redact.Text(id, nil) // no secret becomes part of the id that is suggested
	}
	fix := fmt.Sprintf("Write %q.", SuggestID(kind, like))
	switch {
	case Reserved(id) && !MayReserve(kind):
		// Published collections use these ids, and a person can use their files as they are.
		if kind == SourceProject || kind == SourceUser {
			fix = strings.TrimSuffix(fix, ".") + ", or attach the folder: 'waybill workflows attach DIR'."
		}
		report.Error(at, fix, "workflow ids that start with wr. are reserved for bundled workflows, got %q", id)
	case IDStatus(id) == "legacy":
		report.Warn(at, fix, "workflow id %q has no namespace; it works, but other files may use the same id", id)
	case IDStatus(id) == "":
		report.Error(at, fix, "expected a workflow id of the form namespace.name in lowercase letters, digits, _ and "+
			"-, got %q", id)
	}
}
