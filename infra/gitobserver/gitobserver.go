// Package gitobserver tells which git repository a run was started in, from the
// repository's own files: it runs no git, so that a start costs no process and a
// repository's settings cannot make one. What it cannot tell it leaves out; it
// never makes anything fail (R27).
package gitobserver

import (
	"path/filepath"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// Root is the root of the repository that dir lies in, "" outside one.
func Root(dir string) string {
	for {
		if isRepository(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// Observe anchors a run in the repository whose root is given: its branch, its
// commit, and the digest of where it lies. The place itself is told to nobody.
func Observe(root string) []event.ObservationRecorded {
	if root == "" {
		return nil
	}
	var out []event.ObservationRecorded
	add := func(key, kind, value string) {
		o := event.ObservationRecorded{Confidence: "high", Key: key,
			Value: event.ObservationValue{Type: kind, Value: value}}
		if o.Check(event.Scope{}) == nil { // a sha256 repository's commit, a detached head's branch
			out = append(out, o)
		}
	}
	branch, commit := head(root)
	add("git_branch", "short_string", branch)
	add("git_head_sha", "git_sha1", commit)
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root
	}
	add("repo_root_hash", "sha256", canon.Sum([]byte(filepath.ToSlash(real))).String())
	return out
}
