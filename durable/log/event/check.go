package event

import (
	"errors"
	"fmt"
)

// The checks of payloads are lists of conditions: cmp.Or returns the error of the first one that
// does not hold. Conditions have no effects and are all evaluated, since nearly every event passes.
// They are small enough to be inlined: every event that is read or written is checked.

// oneOf returns an error for a word outside of a closed set; what says which set.
func oneOf[T ~string](what string, word T, set ...T) error {
	for _, known := range set {
		if word == known {
			return nil
		}
	}
	return unknownWord(what, string(word))
}

func unknownWord(what, word string) error { return fmt.Errorf("unknown %s %q", what, word) }

// within returns an error for a number outside of least to most. what describes the number, for
// which it contains %d.
func within[N int | int64](what string, n, least, most N) error {
	if n >= least && n <= most {
		return nil
	}
	return outside(what, int64(n), int64(least), int64(most))
}

func outside(what string, n, least, most int64) error {
	if least == 0 {
		return fmt.Errorf(what+": want at most %d", n, most)
	}
	return fmt.Errorf(what+": want %d to %d", n, least, most)
}

// errorIf returns an error with a text where wrong holds.
func errorIf(wrong bool, text string) error {
	if wrong {
		return errors.New(text)
	}
	return nil
}
