package workflow

// Nearest is the candidate that someone who typed word most likely meant, "" when
// none is close: what files are told about their keys, command lines are told
// about ids in the same way.
func Nearest(word string, candidates []string) string { return nearest(word, candidates) }
