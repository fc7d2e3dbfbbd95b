package render

import (
	"strings"
	"testing"
)

// TestSentence: iterations of the engine's sentences are counted from one; texts of other people are not changed. Each
// row is a sentence with the number before and after.
func TestSentence(t *testing.T) {
	for sentence, numbers := range map[string][2]string{
		`Step "inner" of loop "again" is next, in iteration #.`:                             {"0", "1"},
		`Decided: Step "a" of loop "b" is next, in iteration #. (after one other decision)`: {"9", "10"},
		`Loop "again": iteration # of 3 iterations is done; it goes on.`:                    {"0", "1"},
		`Loop "l": iteration # brought no decision; it goes round again.`:                   {"4", "5"},
		`Loop "l": the decision after iteration # is stop.`:                                 {"2", "3"},
		`Loop "l" (while), iteration #: its condition holds, so it goes on: {}`:             {"0", "1"},
		`Loop "l" would start iteration #, and its maxIterations is 3 (iteration=3).`:       {"3", "4"},
		`Loop "l" is left after # iterations.`:                                              {"3", "3"},
		`Notes on “A”: iteration # of the plan`:                                             {"0", "0"},
		`Step "a": its condition holds: {"equals":"in iteration #"}`:                        {"7", "7"},
		`Loop "l": iteration # of 1 iteration is done`:                                      {"12345678901", "12345678901"},
	} {
		text, want := strings.ReplaceAll(sentence, "#", numbers[0]), strings.ReplaceAll(sentence, "#", numbers[1])
		if got := Sentence(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
