package markup

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Document is a whole page.
type Document struct {
	// Title is the name of the page, of any origin.
	Title string
	// Style is a style sheet of the program.
	Style string
	// ScriptFrom is the address of a script of the program on the same site, the zero URL for none.
	ScriptFrom URL
	// StyleFrom is the address of a style sheet on the same site, in place of Style.
	StyleFrom URL
	// Served reports that a server sends the page with its own policy: the page has none.
	Served bool
	Body   []*Node
}

// Node returns the page. Without Served it has a policy that allows its own style sheet and nothing else: no script, no
// image, no request, no form.
func (d Document) Node() *Node {
	head := []*Node{E(Meta, Set(Charset, "utf-8")), E(Meta, Set(MetaName, "viewport"), Set(Content,
		"width=device-width, initial-scale=1")),
		E(Meta, Set(MetaName, "color-scheme"), Set(Content, "light dark")),
		E(Meta, Set(MetaName, "referrer"), Set(Content, "no-referrer"))}
	if !d.Served {
		head = append(head, E(Meta, Set(httpEquiv, "Content-Security-Policy"), Set(Content, Policy(d.Style))))
	}
	head = append(head, E(Title, Text(d.Title)), sheet(d.Style))
	if d.StyleFrom != (URL{}) {
		head = append(head, E(link, &Node{kind: attrNode, name: "rel", text: "stylesheet"}, &Node{kind: attrNode, name: "href", text: d.StyleFrom.text}))
	}
	if d.ScriptFrom != (URL{}) {
		head = append(head, E(script, &Node{kind: attrNode, name: "src", text: d.ScriptFrom.text}, &Node{kind: bareNode,
			name: "defer"}))
	}
	return Group{{kind: rawNode, text: "<!DOCTYPE html>\n"}, E(HTML, Set(Lang, "en"), E(Head, head...), E(Body,
		d.Body...))}.Node()
}

// Policy returns the content security policy of a page with one style sheet.
func Policy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}

// sheet is a style sheet of the program. One that could end its element is a defect of the program.
func sheet(style string) *Node {
	if style == "" {
		return Nothing()
	}
	if strings.Contains(style, "</") || strings.Contains(style, "<!") {
		panic("markup: the style sheet ends its element")
	}
	return &Node{kind: rawNode, text: "<style>" + style + "</style>\n"}
}
