package document

// ClientSettings is the document "client_settings": how the settings of a client are changed, or were.
type ClientSettings struct {
	Client string `json:"client"`
	File   string `json:"file"`
	// Changed reports that the file was written.
	Changed bool `json:"changed"`
	// Removed reports that the file is removed, since it has nothing else.
	Removed bool `json:"removed,omitzero"`
	// Difference has what changes, and nothing of what stays: a line with a place between @@, then lines that begin with
	// - for what is removed and + for what is added; none if nothing changes.
	Difference []string `json:"difference"`
	// Note is what a person has to do besides.
	Note string `json:"note,omitzero"`
}

// GuardTest is the document "guard_test": what the hooks of a client answer now.
type GuardTest struct {
	Client string       `json:"client"`
	Events []GuardEvent `json:"events"`
	// Note is why no run is found here.
	Note string `json:"note,omitzero"`
}

// GuardEvent is a recorded input of a hook and its answer, both as the JSON of the client.
type GuardEvent struct {
	Event string `json:"event"`
	Input string `json:"input"`
	// Answer is empty if the hook lets the client continue.
	Answer string `json:"answer"`
}
