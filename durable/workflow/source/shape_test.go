package source

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/workflow/shape"
)

// TestShapesHaveDescriptions checks that Want of every shape of the tables can follow
// "expected", and that keys are unique.
func TestShapesHaveDescriptions(t *testing.T) {
	seen := 0
	var visit func(path string, s shape.Shape)
	visit = func(path string, s shape.Shape) {
		seen++
		if w := s.Want(); w == "" || strings.HasSuffix(w, ".") || strings.TrimSpace(w) != w {
			t.Errorf("%s: wants %q", path, w)
		}
		switch s := s.(type) {
		case object:
			names := map[string]bool{}
			for _, f := range s.Fields {
				if names[f.Name] {
					t.Errorf("%s: key %q is in the table twice", path, f.Name)
				}
				names[f.Name] = true
				visit(path+"."+f.Name, f.Shape)
			}
		case list:
			visit(path+"[]", s.Of)
		case byKind:
			for k, inner := range s {
				visit(path+"("+k.String()+")", inner)
			}
		case byTag:
			for tag, inner := range s.Cases {
				visit(path+"("+tag+")", inner)
			}
		case dictionary:
			visit(path+"{}", s.Value)
		case loopConfig:
			visit(path, loopConfigShape)
		}
	}
	visit("workflow", workflowShape)
	if seen < 200 {
		t.Errorf("only %d shapes were visited", seen)
	}
}
