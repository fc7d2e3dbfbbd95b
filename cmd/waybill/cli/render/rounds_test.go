package render

import "testing"

// TestSentence: iterations of the engine's sentences are counted from one; texts of other people are not changed.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		`Step "inner" of loop "again" is next, in iteration 0.`:                                                  `Step "inner" of loop "again" is next, in iteration 1.`,
		`Decided: Step "a" of loop "b" is next, in iteration 9. (after one)`:                                     `Decided: Step "a" of loop "b" is next, in iteration 10. (after one)`,
		`Loop "again": iteration 0 of 3 iterations is done; it goes on.`:                                         `Loop "again": iteration 1 of 3 iterations is done; it goes on.`,
		`Loop "l": iteration 4 brought no decision; it goes round again.`:                                        `Loop "l": iteration 5 brought no decision; it goes round again.`,
		`Loop "l": the decision after iteration 2 is stop.`:                                                      `Loop "l": the decision after iteration 3 is stop.`,
		`Loop "l" (while), iteration 0: its condition holds, so it goes on: {}`:                                  `Loop "l" (while), iteration 1: its condition holds, so it goes on: {}`,
		`Loop "l" would start iteration 3, and its maxIterations is 3 (loopId=l, iteration=3, maxIterations=3).`: `Loop "l" would start iteration 4, and its maxIterations is 3 (loopId=l, iteration=3, maxIterations=3).`,
		`Loop "l" is left after 3 iterations.`:                                                                   `Loop "l" is left after 3 iterations.`,
		`Notes on “A”: iteration 0 of the plan`:                                                                  `Notes on “A”: iteration 0 of the plan`,
		`Step "a": its condition holds: {"equals":"in iteration 7"}`:                                             `Step "a": its condition holds: {"equals":"in iteration 7"}`,
		`Loop "l": iteration 12345678901 of 1 iteration is done`:                                                 `Loop "l": iteration 12345678901 of 1 iteration is done`,
	} {
		if got := Sentence(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
