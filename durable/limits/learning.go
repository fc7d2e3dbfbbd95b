package limits

// Limits of feedback and of proposals (RFC 0056, RFC 0096).
const (
	// AnnotationNoteBytesMax bounds an annotation's note, as the notes of a step.
	AnnotationNoteBytesMax = 4096
	// CorrectionBytesMax bounds a corrected text: what an agent wrote may be long, and what
	// stands in its place is as long.
	CorrectionBytesMax = 64 << 10
	// LabelBytesMax bounds a label: a word or a few that are counted.
	LabelBytesMax = 128
	// AnnotationCacheBytesMax bounds the saved sums of a session's annotations.
	AnnotationCacheBytesMax = 1 << 20
	// AnnotationsPageMax is how many annotations one page holds, and AnnotationsPage how many
	// where the caller names no number.
	AnnotationsPageMax = 1000
	// AnnotationsPage is the usual length of a page.
	AnnotationsPage = 100
	// ProposalFileBytesMax bounds the file that a proposal is made of: a workflow's source,
	// and what is said about it.
	ProposalFileBytesMax = SourceBytesMax + 64<<10
	// ProposalTitleBytesMax bounds a proposal's title.
	ProposalTitleBytesMax = 256
	// RationaleBytesMax bounds why something is proposed.
	RationaleBytesMax = 16 << 10
	// SourceRunsMax is how many runs a proposal may come from.
	SourceRunsMax = 100
	// DuplicatesMax is how many likenesses of a proposal are told, the nearest first.
	DuplicatesMax = 10
	// QuorumMax is how many people's approval a store may ask for.
	QuorumMax = 100
	// PrincipalsMax is how many principals, and how many roles, a store's configuration names.
	PrincipalsMax = 1000
	// PromptTextBytesMax bounds a prompt template's text (RFC 0027).
	PromptTextBytesMax = 65_536
)
