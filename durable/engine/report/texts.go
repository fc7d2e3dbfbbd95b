package report

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/projections/markup"
)

// texts are the texts of a report. Together they have at most textsBytesMax bytes: if there are more, each is cut to
// the same length, the longest that fits among halves of textBytesMax.
type texts struct {
	most int
	size int
	all  []held
	// shortened are the texts that were cut.
	shortened map[*string]bool
}

// held is a text of the report.
type held struct {
	text *string
	// marker is put behind a text that was cut, "" for one whose length is known beside it.
	marker string
	// end keeps the end of the text and not its beginning; gap counts the bytes that were left out.
	end bool
	gap *int64
}

// textBytesMin is the length to which texts are cut at most.
const textBytesMin = 128

func newTexts() *texts { return &texts{most: textBytesMax, shortened: map[*string]bool{}} }

// set sets a text, which may be set again.
func (t *texts) set(to *Text, whole string) {
	t.size -= markup.Size(to.Text)
	again := to.Bytes > 0
	to.Text, to.Bytes, to.SHA256 = whole, int64(len(whole)), canon.Sum([]byte(whole))
	if again {
		t.size += markup.Size(whole)
		t.fit()
		return
	}
	t.hold(held{text: &to.Text})
}

// add adds a text that the report has already.
func (t *texts) add(text *string, marker string) { t.hold(held{text: text, marker: marker}) }

// addEnd adds the end of an output.
func (t *texts) addEnd(text *string) {
	if *text != "" {
		t.hold(held{text: text, end: true})
	}
}

// addOutput adds both ends of an output.
func (t *texts) addOutput(o *Output) {
	t.hold(held{text: &o.Head, gap: &o.OmittedBytes})
	t.hold(held{text: &o.Tail, gap: &o.OmittedBytes, end: true})
}

// hold adds a text and cuts all of them where they are too long.
func (t *texts) hold(h held) {
	t.all = append(t.all, h)
	t.size += markup.Size(*h.text)
	t.shorten(h)
	t.fit()
}

// fit cuts the texts until they fit.
func (t *texts) fit() {
	for t.size > textsBytesMax && t.most > textBytesMin {
		t.most /= 2
		for _, h := range t.all {
			t.shorten(h)
		}
	}
}

// shorten cuts one text.
func (t *texts) shorten(h held) {
	before := *h.text
	if markup.Size(before) <= t.most {
		return
	}
	before = strings.TrimSuffix(before, h.marker)
	most := t.most * len(before) / markup.Size(before)
	kept := reason.Clip(before, most)
	if h.end {
		kept = command.LastBytes(before, most)
	}
	if h.gap != nil {
		*h.gap += int64(len(before) - len(kept))
	}
	t.size += markup.Size(kept+h.marker) - markup.Size(*h.text)
	// A copy: the text must not keep the whole one in memory.
	*h.text = strings.Clone(kept) + h.marker
	t.shortened[h.text] = true
}

// cut returns how many texts were cut.
func (t *texts) cut() int { return len(t.shortened) }
