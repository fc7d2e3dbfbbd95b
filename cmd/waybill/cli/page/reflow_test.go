package page

import (
	"strings"
	"testing"
)

const manual = `A paragraph with breaks
where its author had space, and 'waybill help flags' whole.

  short     a term with a description
            of two lines
  no gap at all

Values:
  term
      described below it, in a line that is
      continued
`

func TestReflow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width int
		want  string
	}{
		{80, `A paragraph with breaks where its author had space, and 'waybill help flags'
whole.

  short     a term with a description of two lines
  no gap at all

Values:
  term
      described below it, in a line that is continued
`},
		{50, `A paragraph with breaks where its author had
space, and 'waybill help flags' whole.

  short     a term with a description of two lines
  no gap at all

Values:
  term
      described below it, in a line that is
      continued
`},
		{24, `A paragraph with breaks
where its author had
space, and
'waybill help flags'
whole.

  short
      a term with a
      description of two
      lines
  no gap at all

Values:
  term
      described below
      it, in a line that
      is continued
`},
	} {
		got := Reflow(manual, c.width)
		if got != c.want {
			t.Errorf("width %d: got\n%s\nwant\n%s", c.width, got, c.want)
		}
		if a, b := strings.Fields(got), strings.Fields(manual); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("width %d: words are missing", c.width)
		}
	}
}

func TestTerm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column, width int
		want          string
	}{
		{12, 51, "  --set K=V set a context key; null removes the key"},
		{12, 44, "  --set K=V set a context key; null removes\n            the key"},
		{12, 40, "  --set K=V\n      set a context key; null removes\n      the key"},
		{8, 50, "  --set K=V\n      set a context key; null removes the key"},
	} {
		if got := Term("  --set K=V", c.column, "set a context key; null removes the key", c.width); got != c.want {
			t.Errorf("column %d of %d: got\n%s\nwant\n%s", c.column, c.width, got, c.want)
		}
	}
}
