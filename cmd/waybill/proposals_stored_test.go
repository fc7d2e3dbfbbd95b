package main

import (
	"path/filepath"
	"testing"
)

// TestStoredProposalsMatchSchema checks that the records of all decisions are valid by their
// schema, and that records with an added or removed member are not.
func TestStoredProposalsMatchSchema(t *testing.T) {
	c := newCalls(t)
	const file = `{"kind":"prompt-template","title":"T","rationale":"R","synthesizerModel":"m","artifact":{"templateId":"look","version":"1.0.0","kind":"user","text":"Look."}}`
	name, _ := parseProposal(t, c.with(file, "proposals", "create", "-", "--workspace", "blue"))
	do := func(what string, more ...string) {
		c.with(file, append([]string{"proposals", what, name, "--workspace", "blue"}, more...)...)
	}
	do("reject", "--reason", "r")
	do("archive")
	do("revise", "-")
	do("apply", "--as", "ada")
	do("rollback", "--as", "ada")
	do("revise", "-")
	records := validStore(t, filepath.Join(c.dir, "home/local"))["proposal-event"]
	if len(records) != 7 {
		t.Fatalf("%d proposal records, want 7", len(records))
	}
	for _, record := range records {
		refusesOthers(t, "proposal-event", record)
	}
}
