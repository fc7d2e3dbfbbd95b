// Package gitobserver determines the git repository in which a run was started, from the files of
// the repository: it runs no git, so that a start costs no process and no setting of the repository
// can run one. Values that it cannot determine are omitted; it never makes an operation fail
// (docs/design.md#observations). Start with Root and Observe.
package gitobserver

import (
	"path/filepath"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/pattern"
)

// Root is the root of the repository that contains dir, "" outside of one. dir is an absolute path.
//
// It follows no link; the parents are those of the path as given.
func Root(dir string) string {
	for {
		if _, ok := gitDir(dir); ok {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// Observe returns the observations of a run in the repository with the given root: its branch
// (git_branch), its commit (git_head_sha) and the digest of its path (repo_root_hash). The path
// itself is never recorded. An empty root has no observations.
//
// All values have confidence "high". They are not verified against the working tree: uncommitted
// changes are not observed.
func Observe(root string) []event.ObservationRecorded {
	return append(ObserveHead(root), observations(value{"repo_root_hash", "sha256", RootDigest(root)})...)
}

// ObserveHead is Observe without the digest of the path: what changes while a run is performed.
func ObserveHead(root string) []event.ObservationRecorded {
	if root == "" {
		return nil
	}
	branch, commit := head(root)
	return observations(value{"git_branch", "short_string", branch}, value{"git_head_sha", "git_sha1", commit})
}

// value is what was read of a repository, "" if it is not known.
type value struct{ key, kind, text string }

// observations returns what is known of some values. It omits the branch of a detached head, and the commit of a
// sha256 repository, for which there is no type. A branch that is too long is dropped, with a warning, where the
// observation is recorded.
func observations(all ...value) (out []event.ObservationRecorded) {
	for _, v := range all {
		o := event.ObservationRecorded{Confidence: "high", Key: v.key,
			Value: event.ObservationValue{Type: v.kind, Value: v.text}}
		if v.text != "" && (v.key == "git_branch" || o.Check(event.Scope{}) == nil) {
			out = append(out, o)
		}
	}
	return out
}

// Head is the commit that is checked out in the repository with the given root, in hexadecimal; "" if it
// is not known.
func Head(root string) string {
	if _, commit := head(root); commitID.MatchString(commit) {
		return commit
	}
	return ""
}

// commitID matches the id of a commit, by SHA-1 or by SHA-256.
var commitID = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// RootDigest is the digest of the path of a repository, as Observe has it; "" outside of one. One repository has one digest,
// independent of the links that lead to it.
func RootDigest(root string) string {
	if root == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root
	}
	return canon.Sum([]byte(filepath.ToSlash(real))).String()
}
