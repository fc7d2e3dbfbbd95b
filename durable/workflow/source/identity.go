package source

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// SourceKind says where a workflow file came from (locks section 7).
type SourceKind string

// The source kinds of the locks, and SourceInstalled: what an applied proposal brought.
const (
	SourceBundled SourceKind = "bundled"
	SourceUser    SourceKind = "user"
	SourceProject SourceKind = "project"
	SourceRemote  SourceKind = "remote"
	SourcePlugin  SourceKind = "plugin"

	SourceInstalled SourceKind = "installed"
)

// namespace is where workflows of a kind belong when they have to be renamed.
func (k SourceKind) namespace() string {
	switch k {
	case SourceBundled:
		return "wr"
	case SourceUser:
		return "user"
	case SourceRemote, SourcePlugin:
		return "repo"
	}
	return "project"
}

const idLengthMax = 64

var (
	namespaced = pattern.New(`^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$`)
	legacyID   = pattern.New(`^[a-z0-9_-]+$`)
	notInName  = pattern.New(`[^a-z0-9_]+`)
)

// IDStatus is "namespaced" or "legacy"; "" for a text that is no workflow id.
func IDStatus(id string) string {
	switch {
	case namespaced.MatchString(id):
		return "namespaced"
	case legacyID.MatchString(id):
		return "legacy"
	}
	return ""
}

// SuggestID is the id that a workflow of this kind should have in place of id. It
// depends on nothing else, so that everyone is told the same.
func SuggestID(kind SourceKind, id string) string {
	name := id
	if ns, rest, ok := strings.Cut(id, "."); ok && strings.Trim(rest, ".") != "" && ns != "" {
		name = rest
	}
	name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = "w_" + name
	}
	suggested := kind.namespace() + "." + name
	return strings.TrimRight(suggested[:min(len(suggested), idLengthMax)], "_")
}

// SuggestApart is a suggestion that is taken already, told apart by four digits of
// the digest of its source, and never by a time (locks section 7).
func SuggestApart(suggested string, source []byte) string {
	suffix := "_" + strings.TrimPrefix(canon.Sum(source).String(), "sha256:")[:4]
	return suggested[:min(len(suggested), idLengthMax-len(suffix))] + suffix
}

// checkID judges the id of a file by the namespaces of the locks.
func checkID(root problem.Place, kind SourceKind, report problem.Report) {
	at := root.Member("id")
	id := at.Value.Text()
	if id == "" {
		return // the shape has said so
	}
	fix := fmt.Sprintf("Write %q.", SuggestID(kind, id))
	switch {
	case strings.HasPrefix(id, "wr.") && kind != SourceBundled:
		report.Error(at, fix, "workflow ids that start with wr. are reserved for bundled workflows, got %q", id)
	case IDStatus(id) == "legacy":
		report.Warn(at, fix, "workflow id %q has no namespace; it runs, but other files may use the same", id)
	case IDStatus(id) == "":
		report.Error(at, fix, "expected a workflow id of the form namespace.name in lowercase letters, digits, _ and "+
			"-, got %q", id)
	}
}
