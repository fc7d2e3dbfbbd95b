package markup

import "strconv"

// Tag is the closed set of elements.
type Tag uint8

// The elements.
const (
	A Tag = iota
	Article
	Blockquote
	Body
	Br
	Button
	Caption
	Circle
	Code
	Dd
	Del
	Desc
	Details
	Div
	Dl
	Dt
	Em
	Footer
	Form
	G
	H1
	H2
	H3
	H4
	H5
	H6
	Head
	Header
	Hr
	HTML
	Input
	Label
	Li
	Main
	Meta
	Nav
	Ol
	OptionTag
	P
	Path
	Pre
	Rect
	Section
	Select
	Small
	Span
	Strong
	Summary
	SVG
	SVGText
	Table
	Tbody
	Td
	Th
	Thead
	Time
	Title
	Tr
	Ul
	script // not for callers: its content is a program
	link   // likewise
	tags
)

// tagNames are the names of the elements, in their order.
var tagNames = [tags]string{"a", "article", "blockquote", "body", "br", "button", "caption", "circle", "code", "dd", "del",
	"desc", "details", "div", "dl", "dt", "em", "footer", "form", "g", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
	"input", "label", "li", "main", "meta", "nav", "ol", "option", "p", "path", "pre", "rect", "section", "select", "small",
	"span", "strong", "summary", "svg", "text", "table", "tbody", "td", "th", "thead", "time", "title", "tr", "ul", "script", "link"}

// String returns the name of the element.
func (t Tag) String() string { return tagNames[t] }

// isVoid reports an element without content and end tag.
func (t Tag) isVoid() bool { return t == Br || t == Hr || t == Input || t == Meta || t == link }

// isPlain reports an element that has text and no elements.
func (t Tag) isPlain() bool { return t == Title || t == Desc || t == SVGText || t == OptionTag }

// isBlock reports an element after which a line ends, where white space has no meaning.
func (t Tag) isBlock() bool {
	switch t {
	case A, Button, Code, Del, Em, Label, OptionTag, Pre, Small, Span, Strong, Time, SVGText:
		return false
	}
	return true
}

// Name is the closed set of attributes with a value that is neither an address nor a script.
type Name string

// The attributes.
const (
	AriaControls    Name = "aria-controls"
	AriaCurrent     Name = "aria-current"
	AriaDescribedBy Name = "aria-describedby"
	AriaHidden      Name = "aria-hidden"
	AriaLabel       Name = "aria-label"
	AriaLabelledBy  Name = "aria-labelledby"
	AriaLive        Name = "aria-live"
	Charset         Name = "charset"
	Class           Name = "class"
	Content         Name = "content"
	Cx              Name = "cx"
	Cy              Name = "cy"
	D               Name = "d"
	DateTime        Name = "datetime"
	For             Name = "for"
	Height          Name = "height"
	ID              Name = "id"
	Lang            Name = "lang"
	MetaName        Name = "name"
	R               Name = "r"
	Role            Name = "role"
	Rx              Name = "rx"
	Scope           Name = "scope"
	Start           Name = "start"
	TabIndex        Name = "tabindex"
	TextAnchor      Name = "text-anchor"
	Type            Name = "type"
	Value           Name = "value"
	ViewBox         Name = "viewBox"
	Width           Name = "width"
	X               Name = "x"
	Y               Name = "y"
	httpEquiv       Name = "http-equiv"
)

// Set returns an attribute with a value of any origin.
//
//go:noinline
func Set(name Name, value string) *Node {
	return &Node{kind: attrNode, name: string(name), text: value}
}

// Num returns an attribute with a number.
//
//go:noinline
func Num(name Name, value int) *Node { return Set(name, strconv.Itoa(value)) }

// Cls returns the attribute class.
//
//go:noinline
func Cls(value string) *Node { return Set(Class, value) }

// Data returns the attribute data-NAME. A name is of small letters and dashes; anything else is a defect of the caller.
//
//go:noinline
func Data(name, value string) *Node {
	for _, r := range name {
		if (r < 'a' || r > 'z') && r != '-' {
			panic("markup: data-" + name)
		}
	}
	return &Node{kind: attrNode, name: "data-" + name, text: value}
}

// Flag is the closed set of attributes without a value.
type Flag string

// The attributes without a value.
const (
	Checked  Flag = "checked"
	Hidden   Flag = "hidden"
	Open     Flag = "open"
	Selected Flag = "selected"
)

// On returns an attribute without a value.
func On(f Flag) *Node { return &Node{kind: bareNode, name: string(f)} }
