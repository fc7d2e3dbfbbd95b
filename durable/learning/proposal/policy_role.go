package proposal

// CheckRole refuses, with PROPOSAL_FORBIDDEN, whoever does not hold the approver's role.
func (p Policy) CheckRole(who Principal) error {
	if p.Holds(who, p.ApproverRole) {
		return nil
	}
	return p.lacking(who, "role", p.ApproverRole, []string{p.ApproverRole})
}
