package proposal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
)

// Check refuses a proposal whose kind differs from its slot's, an invalid owner or provenance, and
// what the checks of Content and Subject refuse. Like every Check here it runs before a write and
// after a read.
func (r Created) Check(event.Scope) error {
	if r.Of != r.Slot.Kind {
		return fmt.Errorf("kind %q in a slot of kind %q", r.Of, r.Slot.Kind)
	}
	return cmp.Or(r.Owner.check(), r.Provenance.check(), r.Content.check(), r.Subject.check())
}

// Check refuses a revision number below 2 and what the checks of Content and Subject refuse.
func (r Revised) Check(event.Scope) error {
	if r.Revision < 2 || r.Revision > limits.EventIndexMax {
		return fmt.Errorf("revision %d: want 2 or more", r.Revision)
	}
	return cmp.Or(r.Content.check(), r.Subject.check())
}

// Check refuses an approval without its id, artifact, principal or role.
func (r Approved) Check(event.Scope) error {
	switch {
	case r.ApprovalID.IsZero() || r.ArtifactSHA256.IsZero():
		return errors.New("an approval requires its id and the artifact's digest")
	case !config.ValidName(r.Role):
		return fmt.Errorf("invalid role name %q", r.Role)
	}
	return cmp.Or(checkPrincipal(r.Principal), r.Terms.check(), r.Given.Check(), r.Subject.check(),
		r.Replaces.check(Slot{ID: r.Replaces.WorkflowID, Kind: WorkflowChainPack}))
}

// check refuses terms that are not complete: either none are stored, or the policy with its quorum.
func (t Terms) check() error {
	switch {
	case t == Terms{}:
		return nil
	case t.PolicyDigest.IsZero() || t.Quorum < 1 || t.Quorum > limits.QuorumMax:
		return fmt.Errorf("a policy requires its digest and a quorum of 1 to %d, not %d", limits.QuorumMax, t.Quorum)
	case t.Account != "" && !t.Account.Valid():
		return fmt.Errorf("invalid account %q", t.Account)
	}
	return nil
}

// Check refuses an activation that the mode does not permit: approval-gate without an
// approval or an override, an override without a reason, direct-rbac with either.
// InstalledRef must be the one that InstalledRef(slot, version, digest) returns for some
// version.
func (r Applied) Check(event.Scope) error {
	permitted := len(r.ApprovalIDs) > 0 || r.Override
	switch {
	case r.Mode != ApprovalGate && r.Mode != DirectRBAC:
		return fmt.Errorf("unknown mode %q", r.Mode)
	case r.Mode == ApprovalGate && !permitted:
		return errors.New("approval-gate requires an approval or an override")
	case r.Mode == DirectRBAC && permitted:
		return errors.New("direct-rbac has no approvals and nothing to override")
	case r.Override && r.Reason == NoReason:
		return errors.New("an override requires a reason")
	}
	return cmp.Or(distinctIDs("approval", r.ApprovalIDs), atMostOf("approvals", len(r.ApprovalIDs), limits.QuorumMax),
		r.Slot.check(), r.Replaces.check(r.Slot), r.checkInstalledRef(), checkPrincipal(r.Principal), r.Given.Check(), r.Subject.check())
}

// checkInstalledRef requires the InstalledRef of slot and digest, for some version.
func (r Applied) checkInstalledRef() error {
	end := "#" + r.ArtifactSHA256.String()
	start := strings.TrimSuffix(InstalledRef(r.Slot, "", r.ArtifactSHA256), end)
	rest, named := strings.CutPrefix(r.InstalledRef, start)
	version, whole := strings.CutSuffix(rest, end)
	if r.Slot.ID == "" || r.ArtifactSHA256.IsZero() || !named || !whole || version != "" && version[0] != '@' ||
		!label(r.InstalledRef, refBytesMax) {
		return fmt.Errorf("installedRef %q does not name slot and digest", r.InstalledRef)
	}
	return nil
}

// Check refuses what the check of Subject refuses.
func (r Rejected) Check(event.Scope) error { return r.Subject.check() }

// Check refuses what the check of Subject refuses.
func (r Archived) Check(event.Scope) error { return r.Subject.check() }

// Check refuses a slot without an id, since nothing can be installed there.
func (r RolledBack) Check(event.Scope) error {
	if r.Slot.ID == "" {
		return errors.New("nothing is installed in a slot without an id")
	}
	return cmp.Or(r.Slot.check(), r.Subject.check())
}

// check refuses an artifact, a slot, duplicates and texts that are invalid or over their budgets.
func (c Content) check() error {
	return cmp.Or(c.Artifact.check(), c.Slot.check(), c.Replaces.check(c.Slot), ranked(c.Duplicates), checkVersion(c.Version),
		checkText("title", c.Title, limits.ProposalTitleBytesMax),
		checkText("rationale", c.Rationale, limits.RationaleBytesMax))
}

// checkVersion accepts an absent version, spelled "".
func checkVersion(version string) error {
	if version != "" && !label(version, versionBytesMax) {
		return fmt.Errorf("version of %d bytes: want a label of at most %d", len(version), versionBytesMax)
	}
	return nil
}

// check requires a proposal, an ordinal and a reason of at most limits.AuditTextBytesMax bytes.
func (s Subject) check() error {
	switch {
	case s.ProposalID.IsZero():
		return errors.New("proposalId is missing")
	case s.Ordinal < 0 || s.Ordinal > limits.EventIndexMax:
		return fmt.Errorf("ordinal %d is not an event index", s.Ordinal)
	case s.Reason == "":
		return errors.New("reason is missing")
	}
	return checkText("reason", s.Reason, limits.AuditTextBytesMax)
}

// checkPrincipal bounds a principal's name.
func checkPrincipal(name string) error {
	if name == "" || len(name) > limits.ActorRefMax {
		return fmt.Errorf("principal of %d bytes: want 1 to %d", len(name), limits.ActorRefMax)
	}
	return checkText("principal", name, limits.ActorRefMax)
}

// distinctIDs refuses zero and repeated ids.
func distinctIDs[T interface {
	comparable
	fmt.Stringer
	IsZero() bool
}](what string, ids []T) error {
	seen := map[T]bool{}
	for _, one := range ids {
		if one.IsZero() || seen[one] {
			return fmt.Errorf("%s %q is a duplicate or empty", what, one)
		}
		seen[one] = true
	}
	return nil
}

// atMostOf bounds the number of entries of a list.
func atMostOf(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("%d %s: want at most %d", n, what, most)
	}
	return nil
}
