package document

// Console is the document "console": where the console listens.
type Console struct {
	URL string `json:"url"`
	// Token is exchanged for a bearer once, with POST /session.
	Token string `json:"token"`
	// File leads a browser to the console with the token. It is removed when the token was used.
	File string `json:"file"`
}
