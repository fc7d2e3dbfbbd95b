package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// SecretName reports whether a name alone shows that its value is a secret: password, apiToken,
// DB_PASSWORD, x-api-key, token2. It reports false for names about secrets, such as tokenCount,
// passwordPolicy and max_tokens, and for a name that contains a marker.
func SecretName(name string) bool {
	return !strings.Contains(name, markerStart) && words.SecretName(name)
}

// nameMax bounds how many bytes before its colon a name may begin. It keeps the scan linear.
const nameMax = 64

// nameContext is the name before a colon or equals sign, with its context.
type nameContext struct {
	name   string
	before string // the last bytes before the name
	quoted bool   // it is in quotes: JSON, YAML or code
	index  bool   // it is the index of a variable: environ["TOKEN"]
}

// What precedes a name.
var (
	// startsLine matches the indentation, list marks and quotes before a name that begins its line.
	startsLine = pattern.New("(?:^\ufeff?|\n)[ \t*#>\"'`\\\\{,-]{0,28}$")
	// callBegins matches the beginning of a call, of which the name is the first argument.
	callBegins = pattern.New(`\w\($`)
	// declares matches a keyword that declares a variable, in the languages that agents mostly write.
	declares = pattern.New(`(?:^|[^A-Za-z])(?:const|let|var|val|auto|final|String|string|char) +$`)
)

// beforeMax is the length of nameContext.before, more than startsLine matches behind a line's start.
const beforeMax = 32

// nameBefore returns the name that ends before offset i. "api key" is one name of two words.
func nameBefore(s string, i int) (n nameContext) {
	floor := max(0, i-2*nameMax)
	// Skip spaces and emphasis before the colon, then the closing quote, escaped or not.
	end := i
	for end > floor && (s[end-1] == ' ' || s[end-1] == '*' || s[end-1] == '`') && i-end < 4 {
		end--
	}
	if end-1 > floor && s[end-1] == ']' && (s[end-2] == '"' || s[end-2] == '\'') {
		end, n.index = end-1, true
	}
	for end > floor && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') && i-end < 8 {
		end, n.quoted = end-1, true
	}
	if strings.HasSuffix(s[floor:end], htmlQuote) {
		end, n.quoted = end-len(htmlQuote), true
	}
	start := end
	for start > floor && dotted[s[start-1]] && end-start < nameMax {
		start--
	}
	// "key" alone is too common: it counts with the word before it.
	if strings.EqualFold(s[start:end], "key") && start > floor && s[start-1] == ' ' {
		for start--; start > floor && alnum[s[start-1]]; {
			start--
		}
	}
	// An escape such as \n or %20 may precede it, whose letters are not part of the name.
	for cut := start + 1; cut < end && cut <= start+5; cut++ {
		if escapeEnds(s, cut) {
			start = cut
			break
		}
	}
	n.name, n.before = s[start:end], s[max(0, start-beforeMax):start]
	return n
}
