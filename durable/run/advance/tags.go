package advance

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// ParseTags parses tags of runs that are separated by commas: of a start, or those that a worker takes. Blanks around a tag are
// removed, and so are repeated tags. "" has no tag. The error is VALIDATION_ERROR.
func ParseTags(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var out []string
	for tag := range strings.SplitSeq(text, ",") {
		tag = strings.TrimSpace(tag)
		if slices.Contains(out, tag) {
			continue
		}
		if err := checkTag(tag); err != nil {
			return nil, err
		}
		out = append(out, tag)
	}
	if len(out) > limits.TagsMax {
		return nil, fault.New(fault.ValidationError, "--tags: %d tags, at most %d are allowed", len(out), limits.TagsMax)
	}
	return out, nil
}

// checkTag refuses a tag that cannot be recorded, and one that could not be typed again.
func checkTag(tag string) error {
	switch {
	case tag == "":
		return fault.New(fault.ValidationError, "--tags has an empty tag").Suggest("Separate tags by one comma: --tags a,b.")
	case !utf8.ValidString(tag) || strings.ContainsFunc(tag, unicode.IsControl):
		return fault.New(fault.ValidationError, "--tags: the tag %q is not UTF-8, or has a control character", tag)
	case len(tag) > limits.TagBytesMax:
		return fault.New(fault.ValidationError, "--tags: a tag of %d bytes, at most %d are allowed", len(tag), limits.TagBytesMax)
	}
	return nil
}
