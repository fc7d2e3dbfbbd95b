package fault

// WrongKind returns a fault of a code for a reference that is the id of another thing than the wanted one, such as "a
// proposal": what it is, and the command that shows it where there is one. noun is what it is an id of, as id.Noun
// returns it. nil for an id of the wanted kind, and for a text that is none.
func WrongKind(code Code, ref, noun, wanted string) *Fault {
	if noun == "" || noun == wanted {
		return nil
	}
	f := New(code, "%s is the id of %s, and not of %s", ref, noun, wanted)
	show := map[string]Command{"a run": {"runs", "show", ref}, "a session": {"verify", ref},
		"a proposal": {"proposals", "get", ref}}[noun]
	if show == nil {
		return f
	}
	return f.Suggest("Show it with %s.", show)
}
