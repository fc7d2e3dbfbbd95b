package page

// Mark writes the line that begins every view of a test store (docs/design.md#test-seams).
func (p *Page) Mark(testStore bool) {
	if testStore {
		p.Line("%s Test store: its runs were made by tests of the protocol.", p.Warn("!"))
	}
}
