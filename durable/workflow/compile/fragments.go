package compile

import "github.com/waybill/waybill/durable/problem"

// fragments resolves prompt fragments. They keep the author's order, in which they are
// appended to the prompt.
func (u *unit) fragments(list problem.SourceValue) []Fragment {
	var out []Fragment
	for _, at := range list.Items() {
		out = append(out, Fragment{
			ID:   at.Member("id").Value.Text(),
			Text: u.text(at.Member("text").Value.Text()),
			When: u.condition(at, "when"),
		})
	}
	return out
}
