package proposal

// CheckRole refuses, with PROPOSAL_FORBIDDEN, a caller without the approver's role. Unlike
// CheckApprove it does not require a terminal.
func (p Policy) CheckRole(who Principal) error {
	if p.Holds(who, p.ApproverRole) {
		return nil
	}
	return p.lacking(who, "role", p.ApproverRole, []string{p.ApproverRole})
}
