package testreport

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// recognise returns the one format that output is in. A document of XML is judged by its
// beginning, because its text may contain lines of any kind. In other outputs every line counts.
func recognise(output []byte) (Format, error) {
	if beginsDocument(string(bytes.TrimSpace(output[:min(len(output), beginningBytes)]))) {
		return FormatJUnit, nil
	}
	var found [4]bool
	pytest := false // a line that only pytest writes, though not its summary
	for line := range lines(output) {
		switch {
		case strings.HasPrefix(line, "{"):
			found[0] = found[0] || isEvent(line)
		case beginsDocument(line):
			found[1] = true
		case beginsTAP(line):
			found[2] = true
		case isPytestSummary(line):
			found[3] = true
		case isPytestBeginning(line):
			pytest = true
		}
	}
	found[3] = found[3] || pytest
	var formats []Format
	for i, format := range []Format{FormatGo, FormatJUnit, FormatTAP, FormatPytest} {
		if found[i] {
			formats = append(formats, format)
		}
	}
	switch len(formats) {
	case 0:
		switch {
		case hasLine(output, isNumberedPoint):
			return FormatTAP, nil
		case hasLine(output, isPlainGo):
			return "", errors.New("the output is that of go test without -json: its tests cannot be counted, use go test -json")
		}
		return "", errors.New("the output is in no format of test reports that is recognised: " +
			"go test -json, JUnit XML, TAP, or the summary of pytest")
	case 1:
		return formats[0], nil
	}
	return "", fmt.Errorf("the output has test reports in two formats, %s and %s: one is needed",
		formats[0].name(), formats[1].name())
}

// beginningBytes is how much of an output is looked at for the beginning of a document.
const beginningBytes = 4096

// beginsDocument reports whether text begins as a JUnit document does.
func beginsDocument(text string) bool {
	text = strings.TrimLeft(text, " \t")
	for _, beginning := range []string{"<?xml", "<!", "<testsuite"} {
		if strings.HasPrefix(text, beginning) {
			return true
		}
	}
	return false
}

// hasLine reports whether output has a line of a kind.
func hasLine(output []byte, is func(line string) bool) bool {
	for line := range lines(output) {
		if is(line) {
			return true
		}
	}
	return false
}

// isNumberedPoint reports whether a line is a test point of TAP with its number. Points alone make
// no report, but one that was truncated before its plan is reported as such.
func isNumberedPoint(line string) bool {
	p, ok := pointOf(line)
	return ok && p.number > 0
}

// isPlainGo reports whether a line is the result of a package that go test writes for people.
func isPlainGo(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "?   \t")
}

// lines are the lines of a text without their ends and without colours.
func lines(output []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(output) {
			line = bytes.TrimRight(line, "\r\n")
			if !yield(plain(line)) {
				return
			}
		}
	}
}

// plain is a line without the escape sequences for colours and other attributes: ESC [, parameters,
// and a final byte.
func plain(line []byte) string {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return string(line)
	}
	kept := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b || i+1 == len(line) || line[i+1] != '[' {
			kept = append(kept, line[i])
			continue
		}
		for i += 2; i < len(line) && (line[i] < '@' || line[i] > '~'); i++ {
		}
	}
	return string(kept)
}
