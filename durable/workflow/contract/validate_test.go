package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

// TestValidateRejectsForgedPacks: each row is a pack with this shape, whose example has the
// member kind only.
func TestValidateRejectsForgedPacks(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 16) + `{"type":"text"}` + strings.Repeat(`}`, 16)
	tests := []struct{ shape, want string }{
		{`{"type":"object"}`, ``},
		{`{"type":"object","open":true,"fields":[{"name":"a","shape":{"type":"any"}}]}`, ``},
		{`{"type":"object","fields":[{"name":"a","shape":` +
			strings.TrimSuffix(strings.Replace(deep, `{"type":"array","items":{"type":"array","items":`, ``, 1), `}}`) +
			`}]}`, ``},
		{`{"type":"object","fields":[{"name":"a","shape":` + deep + `}]}`,
			`/items/items: nested deeper than 16 shapes`},
		{`{"type":"array"}`, `shape: want type object`},
		{`{"type":"object","fields":[{"name":"kind","shape":{"type":"text"}}]}`,
			`shape/kind: artifactKind already defines it`},
		{`{"type":"object","fields":[{"name":"a","required":true,"shape":{"type":"text"}}]}`,
			`example: /a: expected text, got nothing`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"date"}}]}`, `shape/a: unknown type "date"`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":""}}]}`, `shape/a: unknown type ""`},
		{`{"type":"object","fields":[{"name":"b","shape":{"type":"any"}},{"name":"a","shape":{"type":"any"}}]}`,
			`field "a": want names, each once, in JCS order`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"any"}},{"name":"a","shape":{"type":"any"}}]}`,
			`field "a": want names, each once`},
		{`{"type":"object","fields":[{"name":"","shape":{"type":"any"}}]}`, `field ""`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","minChars":3,"maxChars":2}}]}`,
			`shape/a: no value is within its bounds`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","minChars":-1}}]}`,
			`no value is within its bounds`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"array","maxItems":-1}}]}`,
			`no value is within its bounds`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"number","min":2,"max":1}}]}`,
			`no value is within its bounds`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"integer","minChars":1}}]}`,
			`minChars or maxChars belongs to type text, not to integer`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","min":1}}]}`,
			`min or max belongs to type number, not to text`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","fields":[{"name":"b","shape":{"type":"any"}}]}}]}`, `fields belongs to type object`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"number","enum":["1"]}}]}`,
			`enum belongs to type text`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"object","items":{"type":"any"}}}]}`,
			`items belongs to type array`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","enum":["x","x"]}}]}`, `no two are the same`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","enum":[""]}}]}`, `not empty`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","pattern":"("}}]}`,
			`shape/a: pattern "(": error parsing`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","pattern":"` + strings.Repeat("a", 257) +
			`"}}]}`, `at most 256 bytes`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","format":"email"}}]}`,
			`unknown format "email"`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","const":1}}]}`,
			`shape/a: the constant 1 is not`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","const":"abc","maxChars":2}}]}`,
			`the constant "abc" is not`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"any","anyOf":[{"type":"text"},{"type":"array"}]}}]}`,
			``},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"any","anyOf":[{"type":"text"}]}}]}`,
			`two or more shapes`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"any","anyOf":[{"type":"map"},{"type":"object"}]}}]}`,
			`two of the shapes take object`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"any","anyOf":[{"type":"any"},{"type":"object"}]}}]}`,
			`a type of their own`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"any","anyOf":[{"type":"text","pattern":"("},{"type":"object"}]}}]}`, `shape/a/0: pattern`},
		{`{"type":"object","fields":[{"name":"a","shape":{"type":"text","anyOf":[{"type":"text"},{"type":"object"}]}}]}`, `anyOf belongs to type any`},
		{`{"type":"object","exactlyOne":["a","b"],"fields":[{"name":"a","shape":{"type":"any"}}]}`,
			`exactlyOne: "b" is not an optional field`},
		{`{"type":"object","exactlyOne":["a"],"fields":[{"name":"a","shape":{"type":"any"}}]}`, `two or more names`},
	}
	for _, tt := range tests {
		var p Pack
		text := fmt.Sprintf(`{"contractRef":"wr.contracts.x","artifactKind":"wr.x","title":"X","shape":%s,"example":{"kind":"wr.x"}}`, tt.shape)
		if err := canon.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", tt.shape, err)
		}
		if err := p.Validate(); (err == nil) != (tt.want == "") || err != nil &&
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\ngot  %v\nwant %s", tt.shape, err, tt.want)
		}
	}
	for want, p := range map[string]Pack{
		`contractRef "wr.contracts.X"`: {ContractRef: "wr.contracts.X", ArtifactKind: "wr.x", Title: "X",
			Shape: object()},
		`artifactKind "x"`: {ContractRef: "wr.contracts.x", ArtifactKind: "x", Title: "X", Shape: object()},
		`no title`:         {ContractRef: "wr.contracts.x", ArtifactKind: "wr.x", Shape: object()},
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
