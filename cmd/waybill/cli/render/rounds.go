package render

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/run/snapshot"
)

// Key returns a step instance key for people, with rounds that are counted from one.
func Key(key string) string { return snapshot.InWords(key) }

// iteration matches the number in a stored sentence of the engine about a loop, which counts iterations from zero.
var iteration = pattern.New(`^((?:Decided: )?(?:Loop|Step) "[^"]*"` +
	`(?:: | \(\w+\), |: the decision after | would start | of loop "[^"]*" is next, in )iteration )(\d{1,9})\b`)

// Sentence returns a stored sentence of the engine for people: iterations are counted from one.
func Sentence(text string) string {
	if !strings.Contains(text, "iteration ") {
		return text
	}
	m := iteration.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	n, _ := strconv.Atoi(m[2]) // at most nine digits
	return m[1] + strconv.Itoa(n+1) + text[len(m[0]):]
}
