package redact

import "strings"

// blobLine is the shortest line of a base64 text of several lines, blobLineMax the longest that is read.
const (
	blobLine    = 56
	blobLineMax = 128
)

// blobByte is the class of the bytes of standard base64, which the tokens of most providers do not have.
var blobByte = classOf(letters + digits + "+/=")

// digestNames are what precedes a digest in base64, in lock files and attributes of integrity.
var digestNames = []string{"sha512-", "sha384-", "sha256-", "sha1-", "h1:", "sha512:", "sha256:"}

// inBase64 reports that the token s[from:to] is a part of a digest or of a base64 text: behind the name of a
// digest, before a sign of base64 that the token cannot have, in a text of several lines, or in a run that is
// longer than keys are. Such a text begins with the prefix of a token by chance.
func inBase64(s string, from, to int) bool {
	for _, name := range digestNames {
		if strings.HasSuffix(s[max(0, from-len(name)):from], name) {
			return true
		}
	}
	if strings.ContainsAny(s[from:min(to, from+blobPrefix)], "-_.:") {
		return false // no standard base64, or a prefix that is not there by chance
	}
	if to < len(s) && (s[to] == '+' || s[to] == '/') && span(s[:min(len(s), to+blobLineMax)], to, blobByte) > to+20 {
		return true
	}
	end := span(s[:min(len(s), to+2*blobLineMax)], to, blobByte)
	if strings.ContainsAny(s[from:min(to, from+classifiedMax)], "-_.:") {
		return false
	}
	lines := strings.Count(s[from:min(to, from+2*blobLineMax)], "\n")
	if from > 0 && s[from-1] == '\n' && blobEnds(s, from-1) {
		lines += 2
	}
	for at := end; at < len(s) && at-from < 4*blobLineMax && at-from >= blobLine && s[at] == '\n'; lines++ {
		next := span(s[:min(len(s), at+1+blobLineMax)], at+1, blobByte)
		if next-at <= blobLine {
			break
		}
		at = next
	}
	return lines >= 2
}

// blobPrefix is the length of the longest prefix that base64 has by chance.
const blobPrefix = 5

// tooLong reports standard base64 that is longer than the key of a short prefix.
func tooLong(v string) bool {
	return len(v) > blobMax && strings.ContainsAny(v[:blobMax], "+/") && !strings.ContainsAny(v[:blobMax], "-_.:%")
}

// blobMax is longer than such keys.
const blobMax = 160

// blobEnds reports that a line of base64 ends at i.
func blobEnds(s string, i int) bool {
	from := i
	for from > 0 && i-from < blobLineMax && blobByte[s[from-1]] {
		from--
	}
	countReads(i - from)
	return i-from >= blobLine && (from == 0 || s[from-1] == '\n' || s[from-1] == ' ')
}
