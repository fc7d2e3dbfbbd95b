package limits

// Limits of annotations (docs/design.md#annotations) and proposals (docs/design.md#proposals).
const (
	// AnnotationNoteBytesMax bounds an annotation's note, like the notes of a step.
	AnnotationNoteBytesMax = 4096
	// CorrectionBytesMax bounds a corrected text: an agent's text may be long, and the text that
	// replaces it is about as long.
	CorrectionBytesMax = 64 << 10
	// LabelBytesMax bounds a label: one or a few words, by which annotations are counted.
	LabelBytesMax = 128
	// AnnotationCacheBytesMax bounds the saved totals of a session's annotations.
	AnnotationCacheBytesMax = 1 << 20
	// AnnotationsPageMax is the largest number of annotations that a caller may request at once.
	AnnotationsPageMax = 1000
	// AnnotationsPage is the number of annotations of a page where the caller names none.
	AnnotationsPage = 100
	// ProposalFileBytesMax bounds the file of a proposal: a workflow's source and its rationale.
	ProposalFileBytesMax = SourceBytesMax + 64<<10
	// ProposalTitleBytesMax bounds a proposal's title.
	ProposalTitleBytesMax = 256
	// RationaleBytesMax bounds the text that explains a proposal.
	RationaleBytesMax = 16 << 10
	// SourceRunsMax is the number of runs that a proposal may be based on.
	SourceRunsMax = 100
	// DuplicatesMax is the number of similar artifacts that are listed with a proposal, most
	// similar first.
	DuplicatesMax = 10
	// QuorumMax is the largest number of approvals that a store may require.
	QuorumMax = 100
	// PrincipalsMax is the largest number of principals, and of roles, in a configuration.
	PrincipalsMax = 1000
	// PromptTextBytesMax bounds a prompt template's text (docs/design.md#prompt-templates).
	PromptTextBytesMax = 65_536
)
