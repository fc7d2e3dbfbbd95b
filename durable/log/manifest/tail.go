package manifest

import (
	"bytes"
	"fmt"
	"path"

	"github.com/waybill/waybill/durable/canon"
)

// tail judges the bytes behind the last group (docs/design.md#log-tail): they are part of an append
// that was never acknowledged, which the next writer removes, or damage, which no writer removes.
func (r *reader) tail(candidates []candidate, why *Finding) error {
	at := r.v.Head.Bytes
	// One byte more than the group: a longer tail is not a prefix of it.
	for _, c := range candidates {
		have, err := r.peek(len(c.group) + 1)
		if err != nil {
			return err
		}
		if len(have) > 0 && torn(have, c.group, at) {
			r.v.TailBytes = int64(len(have))
			f := NewFinding(UncommittedTail, path.Join(r.in.Log.Root, FileName),
				"%d bytes of an append that never was acknowledged; the next writer cuts them", len(have))
			f.At = at
			r.v.Findings = append(r.v.Findings, f)
			return nil
		}
	}
	f, err := r.diagnose(candidates, why)
	if err != nil {
		return err
	}
	f.At = at
	r.v.markDamaged(f)
	return nil
}

// diagnose returns the finding that names the damaged file, as far as it can be determined: the
// segment, if the next line attests another digest for it, else the manifest.
func (r *reader) diagnose(candidates []candidate, why *Finding) (Finding, error) {
	if why != nil {
		return *why, nil
	}
	f := NewFinding(ManifestDamaged, path.Join(r.in.Log.Root, FileName), "the bytes from %d on commit no segment",
		r.v.Head.Bytes)
	line, err := r.peekLine(0)
	if err != nil {
		return f, err
	}
	rec := recordOf(line)
	attested, err := canon.ParseDigest(rec.text("sha256"))
	for _, c := range candidates {
		name := c.name()
		f.Message = fmt.Sprintf("the bytes from %d on do not attest %s as it is", r.v.Head.Bytes, name)
		if rec.segment() == name && err == nil && attested != c.sum {
			return NewFinding(SegmentDamaged, path.Join(r.in.Log.Root, SegmentDir, name),
				"the segment does not have the digest that the manifest attests: one of the two was changed"), nil
		}
	}
	return f, nil
}

// SectorBytes is the unit that disks write completely or not at all.
const SectorBytes = 512

// torn reports whether have, which starts at file offset at, can result from a crash while group
// was written: a prefix of group in which whole sectors may be zero. Any other difference is
// damage.
func torn(have, group []byte, at int64) bool {
	if len(have) > len(group) {
		return false
	}
	for start := 0; start < len(have); {
		end := min(len(have), start+SectorBytes-int((at+int64(start))%SectorBytes))
		part := have[start:end]
		if !bytes.Equal(part, group[start:end]) && len(bytes.Trim(part, "\x00")) > 0 {
			return false
		}
		start = end
	}
	return true
}
