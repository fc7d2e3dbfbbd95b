// Package testreport reads from the output of a command how many tests it reports
// (docs/design.md#checks): the events of "go test -json", JUnit XML, TAP, and the summary of pytest.
//
// It is strict where a count would otherwise mean less than it states: an output in no known
// format, or in two, a report that ends early, and one whose totals differ from its tests are
// errors, never counts. It runs nothing and reads no files.
package testreport

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// Format is the format of a report. The set is closed.
type Format string

// The formats that Read recognises.
const (
	FormatGo     Format = "go"     // the events of go test -json
	FormatJUnit  Format = "junit"  // one XML document
	FormatTAP    Format = "tap"    // versions 12, 13 and 14
	FormatPytest Format = "pytest" // the summary in the last line
)

// Formats lists the formats, sorted by their text.
var Formats = []Format{FormatGo, FormatJUnit, FormatPytest, FormatTAP}

// name is what a sentence calls the format.
func (f Format) name() string {
	switch f {
	case FormatGo:
		return "go test -json"
	case FormatJUnit:
		return "JUnit XML"
	case FormatTAP:
		return "TAP"
	default:
		return string(f)
	}
}

// Counts are the tests that a report names (docs/design.md#checks).
type Counts struct {
	// Cached is the number of packages whose results go test took from its cache: their tests did
	// not run this time.
	Cached  int    `json:"cached,omitzero"`
	Failed  int    `json:"failed"`
	Format  Format `json:"format"`
	Passed  int    `json:"passed"`
	Skipped int    `json:"skipped"` // neither passed nor failed
}

// Total is the number of tests that ran to a result.
func (c Counts) Total() int { return c.Passed + c.Failed }

// Read returns the tests that output reports, which is all of a command's stdout. The error is one
// clause without a full stop that explains why output is no report: empty, too long, in none of the
// formats or in two of them, truncated, or with totals that differ from its tests.
func Read(output []byte) (Counts, error) {
	if len(output) > limits.TestReportBytesMax {
		return Counts{}, fmt.Errorf("the output has %d bytes, and a test report has at most %d",
			len(output), limits.TestReportBytesMax)
	}
	output = bytes.TrimPrefix(output, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(output)) == 0 {
		return Counts{}, errors.New("the output is empty and has no test report")
	}
	format, err := recognise(output)
	if err != nil {
		return Counts{}, err
	}
	var c Counts
	switch format {
	case FormatGo:
		c, err = readGo(output)
	case FormatJUnit:
		c, err = readJUnit(output)
	case FormatTAP:
		c, err = readTAP(output)
	case FormatPytest:
		c, err = readPytest(output)
	}
	if err == nil {
		err = c.bounded()
	}
	if err != nil {
		return Counts{}, err
	}
	c.Format = format
	return c, nil
}

// bounded is an error if the report has more tests than are counted. Every reader adds at most
// one bounded number per line, so that the sum does not overflow.
func (c Counts) bounded() error {
	if n := c.Passed + c.Failed + c.Skipped; n > limits.TestReportTestsMax {
		return fmt.Errorf("the report has more than %d tests", limits.TestReportTestsMax)
	}
	return nil
}

// quoted is text from a report for a sentence: one line, and not longer than a name.
func quoted(text string) string {
	if len(text) > limits.ShortStringMax {
		text = strings.ToValidUTF8(text[:limits.ShortStringMax], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
