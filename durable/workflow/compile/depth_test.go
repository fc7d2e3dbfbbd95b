package compile_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestCompiledDepthIsReadable: requireConfirmation is one level deeper in the compiled form. A
// source of any depth is rejected, or its compiled form can be decoded.
func TestCompiledDepthIsReadable(t *testing.T) {
	refused := false
	for depth := 20; depth < 34; depth++ {
		// Alternating and with two parts: the normal form removes levels otherwise.
		gate := `{"var":"x","equals":1}`
		for i := range depth {
			gate = fmt.Sprintf(`{%q:[%s,{"var":"y","equals":2}]}`, []string{"and", "or"}[i%2], gate)
		}
		text := fmt.Sprintf(`{"id":"test.deep","name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p","requireConfirmation":%s}]}`, gate)
		_, c, problems := compile.File("deep.json", source.SourceProject, []byte(text))
		if source.HasErrors(problems) {
			refused = true
			continue
		}
		if _, err := compile.Decode(c.Bytes()); err != nil {
			t.Errorf("%d levels of and: compiled, and then %v", depth, err)
		}
	}
	if !refused {
		t.Error("no depth was refused: the test does not reach the limit")
	}
}
