package docs

// plainRule is one kind of wording that the project does not use. Words are spelled with
// gaps ("¦"), which are removed, so that this file does not contain them.
type plainRule struct {
	words   string // a regular expression, without regard to letter case
	unless  string // a regular expression of legitimate uses, which are ignored
	instead string
	bad     string   // texts that the rule finds, separated by "|"
	good    []string // texts that it does not
}

// plainRules is what comments, messages, help, documentation and names are written
// without: pronouns for a caller or a process, figures of speech, and verbs that a search
// does not find. Each says what to write instead.
var plainRules = []plainRule{
	{words: `(?:some|no|any|every)¦body(?:'s|s)?|who¦ever|what¦ever`,
		instead: "the caller, a process, the user, the writer, the reader; or the noun itself",
		bad:     "no¦body is at the terminal|some¦body's folder|who¦ever reads it|what¦ever it is",
		good:    []string{"the body of a loop", "no body", "every loop's body"}},
	{words: `(?:any|some)¦one(?:'s)?|\bno o¦ne\b`, unless: `\bno o¦ne of\b`,
		instead: "the caller, a process, the user, a person",
		bad:     "any¦one can read it|some¦one must agree|no o¦ne is asked",
		good:    []string{"any one of them", "the one in use"}},
	{words: `\bme¦nd(?:s|ed|ing)?\b`, instead: "fix, repair, complete", bad: "it me¦nds the log",
		good: []string{"amend the file", "recommended"}},
	{words: `\bber¦eft\b`, instead: "missing, without", bad: "a ber¦eft artifact"},
	{words: `\bon¦looker(?:s)?\b`, instead: "observer, reader", bad: "the on¦looker"},
	{words: `\bstra¦nger(?:s)?\b`, instead: "unknown files; another program; a person who is not named",
		bad: "stra¦ngers in a folder", good: []string{"strange"}},
	{words: `\bbro¦om\b`, instead: "sweeper", bad: "the bro¦om"},
	{words: `\bcar¦go\b`, instead: "content, import plan", bad: "the car¦go of a bundle"},
	{words: `\bto¦ld\b`, instead: "reported, passed, distinguished", bad: "the caller is to¦ld"},
	{words: `\bqui¦eten(?:s|ed|ing)?\b`, instead: "sync, lock, wait for writers; name the operation", bad: "qui¦eten"},
	{words: `\ban¦ew\b`, instead: "again", bad: "written an¦ew", good: []string{"a new file"}},
	{words: `\bsi¦ft(?:s|ed|ing)?\b`, instead: "filter", bad: "si¦ft the lines"},
	{words: `\bgla¦nce(?:s|d)?\b`, instead: "summary, read", bad: "a gla¦nce"},
	{words: `\bput(?:s|ting)? aw¦ay\b`, instead: "archive, store", bad: "they are put aw¦ay"},
	{words: `\bt(?:ake|akes|aken|aking|ook) i¦n\b`,
		unless:  `\btaken i¦n (?:order|turn)\b|\bt(?:ake|akes|aken|ook) i¦n (?:total|this|every|each|the)\b`,
		instead: "import, accept", bad: "it takes i¦n a bundle|taken i¦n elsewhere",
		good: []string{"taken i¦n order", "taken into account"}},
	{words: `\b(?:come|comes|coming|came) t¦o\b`,
		unless:  `\b(?:come|comes|came) t¦o (?:the|an?) (?:page|repository|terminal)\b`,
		instead: "results in, is, reaches", bad: "what it comes t¦o|it came t¦o nothing",
		good: []string{"comes together"}},
	{words: `\b(?:go|goes|going|went|gone) o¦n\b`, instead: "continue",
		bad:  "the run goes o¦n|to go o¦n|was gone o¦n with",
		good: []string{"going once", "ongoing"}},
	{words: `\bl(?:ie|ies|ying|ay)¦\b`, instead: "is stored, is in; is forged",
		bad:  "it lies¦ below|a lie¦|lying¦ around",
		good: []string{"replies", "applies", "layer", "delay"}},
	{words: `\bst(?:and|ands|anding|ood)¦\b`, unless: `\bst(?:and|ands|anding) (?:for|alone)\b`,
		instead: "is, is stored, exists, is valid", bad: "it stands¦ there|the file stood¦|standing¦",
		good: []string{"standard input", "it stands for its parent", "understand", "understanding"}},
	{words: `\bsa¦id\b`, instead: "recorded, reported, requested", bad: "what was sa¦id"},
	{words: `\btak(?:e|es|en|ing) (?:it |them |that |this |one |one's )?ba¦ck\b|\btook (?:it )?ba¦ck\b`,
		instead: "retract, withdraw, revoke, restore, undo", bad: "it was taken ba¦ck|takes it ba¦ck",
		good: []string{"call back"}},
	{words: `\bo¦we(?:s|d)?\b`, instead: "pending, missing, required", bad: "what it o¦wes|o¦wed lines",
		good: []string{"power", "lowed"}},
	{words: `\btw¦ins?\b`, instead: "case collision, duplicate, counterpart", bad: "case tw¦ins"},
	{words: `\btr¦ails?\b`, unless: `\baudit tr¦ail\b`, instead: "path", bad: "the tr¦ail to a node",
		good: []string{"trailing zeros", "an audit tr¦ail"}},
	{words: `\basi¦de\b`, instead: "except; to the quarantine", bad: "set asi¦de|approvals asi¦de",
		good: []string{"beside"}},
	{words: `\b(?:is|are|was|were|be|been|isn't|not) th¦ere\b`, instead: "exists, is present",
		bad: "the file is th¦ere|what was th¦ere already", good: []string{"there is a file", "is therefore"}},
	{words: `\bon¦ce means once\b`, instead: "calls are idempotent", bad: "On¦ce means once"},
	{words: `\bhow much ro¦om\b|\btakes? (?:up )?ro¦om\b`, instead: "disk usage, space", bad: "what takes ro¦om"},
	{words: `\bno¦body needs\b|\bto be sa¦fe\b`, instead: "unreferenced, expired; what was measured",
		bad: "26 kB to be sa¦fe"},
	{words: `\bte¦ll about\b`, instead: "help about, describe", bad: "Te¦ll about a command"},
	{words: `\bhou¦se rules?\b|\bmuse¦um\b`, instead: "repository structure; corpus of damaged stores",
		bad: "a muse¦um of stores"},
	{words: `\bas the lo¦cks ha¦ve\b`, instead: "what the rule is", bad: "as the lo¦cks have it"},
}

// plainExceptions are files and sentences that keep their words, each with its reason.
// A sentence that is stored or hashed must stay byte for byte: other words would give
// records, workflows and prompts of existing stores another digest.
var plainExceptions = struct {
	files     map[string]string // a path, or a folder with its slash, and why
	sentences map[string]string // a text, wherever it occurs, and why
}{
	files: map[string]string{
		"infra/discovery/bundled/": "bundled workflows are hashed into workflowHash",
	},
	sentences: map[string]string{
		"what remains of it. A chat can be lost, rewound or taken over by some¦one " +
			"else; the notes are stored with the run, and who¦ever continues it": "a reference, embedded in compiled " +
			"workflows",
		"Challenge the work as some¦one who wants it to fail":                                                    "a reference, embedded in compiled workflows",
		"notes from which some¦one who saw nothing else could go o¦n":                                            "a feature, embedded in compiled workflows",
		"Some¦one who has only the notes could take over":                                                        "a feature, embedded in compiled workflows",
		"and each required member is th¦ere":                                                                     "a feature, embedded in compiled workflows",
		"instead of failing later for a reason that no¦body sees":                                                "a probe, embedded in compiled workflows",
		"or what¦ever page your environment lets you read":                                                       "a probe, embedded in compiled workflows",
		"when no o¦ne has seen another's answer":                                                                 "a reference, embedded in compiled workflows",
		"Wait until all answers are th¦ere":                                                                      "a reference, embedded in compiled workflows",
		"facts (some¦one can look), assumptions (some¦one can ask), or what matters more (some¦one must choose)": "a reference, embedded in compiled workflows",
		"\"ca¦rgo\": {":                                  "the build tool of Rust",
		"ca¦rgo test":                                    "the build tool of Rust",
		"ca¦rgo build":                                   "the build tool of Rust",
		"ca¦rgo clippy":                                  "the build tool of Rust",
		"~/.ca¦rgo/config.toml":                          "the build tool of Rust",
		"so it goes o¦n":                                 "a trace summary, stored in events",
		"Whether a loop goes o¦n":                        "a contract pack, embedded in compiled workflows",
		"for who¦ever reads the run later":               "a contract pack, embedded in compiled workflows",
		"What is sa¦id without having tried it":          "a contract pack, embedded in compiled workflows",
		"Whether a capability is th¦ere":                 "a contract pack, embedded in compiled workflows",
		"What a review came t¦o":                         "a contract pack, embedded in compiled workflows",
		"whole task as it stands¦":                       "a prompt of parallel steps, embedded in compiled workflows",
		"When all results are th¦ere, put them together": "a prompt of parallel steps, embedded in compiled workflows",
		"goes round again cannot be to¦ld":               "a blocker, stored in events",
		"this run goes o¦n past the loop":                "a suggested fix, stored in events",
		"let the run go o¦n past it":                     "a suggested fix, stored in events",
		"how often it runs cannot be to¦ld":              "a trace summary, stored in events",
		"is done; it goes o¦n.":                          "a trace summary, stored in events",
		"true: \"it goes o¦n\"":                          "a trace summary, stored in events",
		"and whether it is th¦ere was never tried":       "a blocker, stored in events",
		"Me¦nd the cause and let 'waybill run":           "a suggested fix, stored in events",
		"Look at what is th¦ere":                         "the workflow to start from, in golden stores",
		"these are th¦ere already":                       "a recovery text: answers about one log keep their bytes",
		"No¦body sa¦id how brown.":                       "a blocker of another program, in testdata/foreign",
		"attested and not th¦ere":                        "a finding, stored in salvage bundles and repair records",
		"referred to and not th¦ere":                     "a finding, stored in salvage bundles and repair records",
		"another one st¦ands in its":                     "a finding, stored in salvage bundles and repair records",
		"st¦ands where event":                            "a finding, stored in salvage bundles and repair records",
		"where a value should st¦and":                    "a decode error, stored in blockers and findings",
		"in a folder that is th¦ere":                     "a suggested fix, stored in events",
		"the folder that it li¦es in":                    "a suggested fix, stored in events",
		"me¦nd@0":                                        "the id of a loop in the workflow of the second verifier",
	},
}
