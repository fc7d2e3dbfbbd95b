package builtin

// ref is a text that prompt blocks can refer to.
type ref struct{ id, text string }

// refID is the key function for find and sorted.
func refID(r ref) string { return r.id }

// Ref returns the text of an id in the namespace wr.refs.*, in Markdown, without a heading
// or a trailing newline, at most limits.RefBytesMax bytes long; false for an unknown id.
func Ref(id string) (string, bool) {
	r, ok := find(refs, refID, id)
	return r.text, ok
}

// Refs lists the ids of all references, sorted.
func Refs() []string { return sorted(refs, refID) }

// refs is the closed set of reference texts. The texts are part of workflow hashes.
var refs = []ref{
	{"wr.refs.notes_first_durability",
		`The notes of a step are what remains of it. A chat can be lost, rewound or taken over by someone else; the notes are stored with the run, and whoever continues it is shown them.

- Write notes for a reader who has seen nothing but the workflow. Name files, commands, versions and people; "as discussed" says nothing.
- Say what you found out, what you decided and why, what you tried that did not work, and what is still open.
- Put a value that later steps or conditions need into context, under the key the step names. Put what has a prescribed form into the artifact that is asked for. Put the reasons into the notes.
- Files that you write besides are working material. If one matters later, name its path in the notes together with its conclusion; never leave the conclusion in the file alone.
- Describe this step only. Earlier notes are kept; repeating them makes the new part hard to find.`},

	{"wr.refs.parallelize_cognition_serialize_synthesis", `Split the looking, not the deciding.

- Hand out reading, searching, critique and independent attempts at one question side by side: they change nothing, and they are worth more when no one has seen another's answer.
- Give each helper one question, what it needs to know, and the form of the answer you want back. Do not hand over your own conclusion with the question.
- Do not hand out decisions, changes to the same files, or anything whose order matters. Those are made by one mind, one after the other.
- Wait until all answers are there, or say which one is missing, before you put them together. Put them together yourself: helpers know their part only.
- Check what a helper reports before you build on it: open the file it names, run the command it quotes. What could not be checked is written down as unchecked.`},

	{"wr.refs.synthesis_under_disagreement",
		`Where sources disagree, the disagreement is a finding. Do not average it away.

1. State each position in a sentence that its holder would sign, with the evidence behind it.
2. Find out what the disagreement is about: facts (someone can look), assumptions (someone can ask), or what matters more (someone must choose).
3. Settle facts by looking. Prefer what was observed to what was inferred, and what can be repeated to what was seen once. The number of voices is not evidence: helpers with the same instructions make the same mistakes.
4. For assumptions, say which one you go by and what would change if it is wrong.
5. Where it is a choice, choose, and name what is given up. If it is not yours to choose, ask.
6. Keep the strongest objection to your conclusion in the notes, with the reason why it did not win.

If nothing would change your conclusion, you have not understood the other side yet.`},

	{"wr.refs.adversarial_challenge_rules",
		`Challenge the work as someone who wants it to fail, and be bound by the same evidence as its author.

- Attack the strongest form of the claim. If it is unclear, first write down what it would have to mean.
- Every objection names what breaks, for whom, under which input or sequence of events, and how one would see it. "Could be a problem" is not an objection.
- Look where authors do not: empty and huge inputs, two at once, an interruption in the middle, a wrong clock, missing rights, old data, the second time, the way back.
- Try to refute by doing: run it, construct the counterexample, read the code that the claim rests on.
- Ask what would have to be true for the opposite conclusion, and go and look for that.
- Mark each objection as confirmed, plausible or refuted. Withdraw a refuted one openly; do not replace it by a vaguer one.
- Say what you tried that did not break. An attack that found nothing is a result only if it says where it struck.
- Stop when new objections repeat old ones. Do not invent a finding to have one.`},
}
