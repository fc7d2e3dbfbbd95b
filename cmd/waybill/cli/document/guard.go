package document

// ClientSettings is the document "client_settings": how the settings of a client are changed, or were.
type ClientSettings struct {
	Client string `json:"client"`
	File   string `json:"file"`
	// Changed reports that the file was written.
	Changed bool `json:"changed"`
	// Difference has the lines of the unified form, from the file to what it becomes; none if nothing changes.
	Difference []string `json:"difference"`
	// Note is what a person has to do besides.
	Note string `json:"note,omitzero"`
}

// GuardTest is the document "guard_test": what the hooks of a client answer now.
type GuardTest struct {
	Client string       `json:"client"`
	Events []GuardEvent `json:"events"`
}

// GuardEvent is a recorded input of a hook and its answer, both as the JSON of the client.
type GuardEvent struct {
	Event string `json:"event"`
	Input string `json:"input"`
	// Answer is empty if the hook lets the client continue.
	Answer string `json:"answer"`
}
