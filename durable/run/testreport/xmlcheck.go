package testreport

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/limits"
)

var (
	errNoDoctype = errors.New("the document has a DOCTYPE or another declaration, which a test report does not need")
	errCutXML    = errors.New("the report is truncated: the document ends within a tag, a comment or a section")
)

// checkXML bounds what a decoder allocates for a document, before it is decoded: the depth of its
// elements and the attributes of one tag. It refuses declarations, which could define entities.
// Whether the document is well formed is left to the decoder.
func checkXML(doc []byte) error {
	depth := 0
	for {
		i := bytes.IndexByte(doc, '<')
		if i < 0 {
			return nil
		}
		doc = doc[i:]
		end := ""
		switch {
		case bytes.HasPrefix(doc, []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(doc, []byte("<![CDATA[")):
			end = "]]>"
		case bytes.HasPrefix(doc, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(doc, []byte("<!")):
			if bytes.HasPrefix([]byte("<![CDATA["), doc) || bytes.HasPrefix([]byte("<!--"), doc) {
				return errCutXML
			}
			return errNoDoctype
		}
		if end != "" {
			i = bytes.Index(doc, []byte(end))
			if i < 0 {
				return errCutXML
			}
			doc = doc[i+len(end):]
			continue
		}
		length, attributes := tag(doc)
		if depth == limits.TestReportDepthMax && length > 0 && doc[1] != '/' {
			return fmt.Errorf("the report has elements in more than %d levels", limits.TestReportDepthMax)
		}
		switch {
		case length == 0:
			return errCutXML
		case attributes > limits.TestReportAttributesMax:
			return fmt.Errorf("the report has a tag with more than %d attributes", limits.TestReportAttributesMax)
		case doc[1] == '/':
			depth--
		case doc[length-2] != '/':
			depth++
		}
		doc = doc[length:]
	}
}

// tag returns the length of the tag at the beginning of doc, 0 if it has no end, and how many
// quoted values it has.
func tag(doc []byte) (length, attributes int) {
	var quote byte
	for i := 1; i < len(doc); i++ {
		switch b := doc[i]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			quote = b
			attributes++
		case b == '>':
			return i + 1, attributes
		}
	}
	return 0, attributes
}
