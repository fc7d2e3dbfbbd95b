package views

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/ports"
)

// ArtifactList is the document "artifacts": the recorded artifacts of a run, or of all runs of the
// store in the order of their sessions, each session in the order of its log.
type ArtifactList struct {
	Artifacts []ArtifactRow `json:"artifacts"`
	// Unreadable lists the sessions of this page that could not be read, or not to their end.
	Unreadable []Unreadable `json:"unreadable"`
	NextCursor string       `json:"nextCursor,omitzero"`
}

// ArtifactQuery selects a page of an ArtifactList.
type ArtifactQuery struct {
	Run    string // reference to a run; "": all runs
	Limit  int    // 0: as many as a page holds
	Cursor string // NextCursor of the previous page
}

// artifactPage is a page that is being filled. It ends before the first row that does not fit.
type artifactPage struct {
	ArtifactList
	size  paging.Size
	limit int
}

// add appends a row; false if the page is full.
func (p *artifactPage) add(row ArtifactRow) bool {
	if p.limit > 0 && len(p.Artifacts) == p.limit || !p.size.Fits(row) && len(p.Artifacts) > 0 {
		last := p.Artifacts[len(p.Artifacts)-1]
		p.NextCursor = last.SessionID.String() + "." + strconv.FormatInt(last.EventIndex, 10)
		return false
	}
	p.Artifacts = append(p.Artifacts, row)
	return true
}

// Artifacts lists recorded artifacts. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS, VALIDATION_ERROR for a
// malformed cursor.
func (o *Views) Artifacts(ctx context.Context, q ArtifactQuery) (ArtifactList, error) {
	return session.Whole(o.store, func() (ArtifactList, error) { return o.artifacts(ctx, q) })
}

func (o *Views) artifacts(ctx context.Context, q ArtifactQuery) (ArtifactList, error) {
	p := &artifactPage{ArtifactList: ArtifactList{Artifacts: []ArtifactRow{}, Unreadable: []Unreadable{}}, limit: q.Limit}
	from, index, err := artifactCursor(q.Cursor)
	if err != nil {
		return p.ArtifactList, err
	}
	var run id.Run
	var all []id.Session
	if q.Run == "" {
		all, err = o.store.Sessions(ctx)
	} else {
		var at session.Position
		at, err = o.r.Locate(ctx, q.Run)
		run, all = at.Run, []id.Session{at.Session}
	}
	if err != nil {
		return p.ArtifactList, err
	}
	for _, s := range all {
		if order := s.Compare(from); order < 0 {
			continue
		} else if order > 0 {
			index = -1
		}
		if done, err := o.artifactsOf(ctx, s, run, index, p); done || err != nil {
			return p.ArtifactList, err
		}
	}
	return p.ArtifactList, nil
}

// artifactCursor parses a cursor; "" is before the first row.
func artifactCursor(text string) (from id.Session, index int64, err error) {
	if text == "" {
		return from, -1, nil
	}
	name, number, _ := strings.Cut(text, ".")
	if from, err = id.ParseSession(name); err == nil {
		index, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil {
		err = fault.New(fault.ValidationError, "the cursor %q is not valid", text).
			Suggest("Copy nextCursor unchanged from the previous page.")
	}
	return from, index, err
}

// artifactsOf adds the artifacts of one session behind an event; done if the page is full.
func (o *Views) artifactsOf(ctx context.Context, s id.Session, run id.Run, after int64, p *artifactPage) (bool, error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	keep := func(out submitted.Artifact) bool {
		return out.Index > after && (run.IsZero() || out.Scope.RunID == run)
	}
	found, v, err := submitted.Read(ctx, o.store, s, limits.ArtifactRowsMax, keep)
	switch {
	case err != nil:
		p.Unreadable = append(p.Unreadable, Unreadable{SessionID: s, Health: manifest.CorruptHead,
			Message: fault.Of(err).Message})
		return false, nil
	case v.Damaged():
		p.Unreadable = append(p.Unreadable, Unreadable{SessionID: s, Health: v.Health, Message: LastFinding(v)})
	}
	obs := &observer{v: o}
	for _, out := range found.Outputs {
		if !p.add(obs.rowOf(ctx, s, out, found.Node(out))) {
			return true, nil
		}
	}
	if found.More { // the page is not full, and the session has more than are collected at once
		last := found.Outputs[len(found.Outputs)-1]
		return o.artifactsOf(ctx, s, run, last.Index, p)
	}
	return false, nil
}

// ArtifactDetails is the document "artifact": an artifact, where it is used, and its content.
type ArtifactDetails struct {
	SHA256       canon.Digest  `json:"sha256"`
	ContentType  string        `json:"contentType"`
	ArtifactKind string        `json:"artifactKind,omitzero"`
	Bytes        int64         `json:"bytes"`
	State        ArtifactState `json:"state"`
	// Erased is the tombstone's text, "" for an artifact that is stored.
	Erased string `json:"erased,omitzero"`
	// Uses are the submissions of these bytes, at most limits.ArtifactUsesMax, and MoreUses the
	// number of the others.
	Uses     []ArtifactRow `json:"uses"`
	MoreUses int           `json:"moreUses,omitzero"`
	Form     ContentForm   `json:"form,omitzero"`
	// Content is the text, at most limits.ArtifactShownBytesMax of it; absent for binary content.
	Content    string       `json:"content,omitzero"`
	CutBytes   int64        `json:"cutBytes,omitzero"` // of the content that are left out
	Unreadable []Unreadable `json:"unreadable"`
}

// ContentForm is the closed set of forms in which content is shown.
type ContentForm string

// The content forms.
const (
	JSONContent   ContentForm = "json"
	TextContent   ContentForm = "text"
	BinaryContent ContentForm = "binary"
)

// Artifact shows an artifact. ref is its digest, with or without "sha256:", or a prefix of
// digestPrefixMin digits that no other artifact of the sessions has. Errors: ARTIFACT_NOT_FOUND,
// VALIDATION_ERROR for another spelling and an ambiguous prefix, STORE_CORRUPT for damage.
func (o *Views) Artifact(ctx context.Context, ref string) (ArtifactDetails, error) {
	return session.Whole(o.store, func() (ArtifactDetails, error) { return o.artifact(ctx, ref) })
}

func (o *Views) artifact(ctx context.Context, ref string) (ArtifactDetails, error) {
	out := ArtifactDetails{Uses: []ArtifactRow{}, Unreadable: []Unreadable{}}
	digits, err := digestDigits(ref)
	if err != nil {
		return out, err
	}
	if err := o.usesOf(ctx, digits, &out); err != nil {
		return out, err
	}
	if out.SHA256.IsZero() && len(digits) == 2*digestBytes {
		out.SHA256, err = canon.ParseDigest("sha256:" + digits) // of a proposal, or not referred to
	} else if out.SHA256.IsZero() {
		err = artifactNotFound(ref)
	}
	if err != nil {
		return out, err
	}
	return out, o.readContent(ctx, &out)
}

// usesOf fills in the submissions of the one artifact whose digest has a prefix.
func (o *Views) usesOf(ctx context.Context, digits string, out *ArtifactDetails) error {
	all, err := o.store.Sessions(ctx)
	if err != nil {
		return err
	}
	keep := func(found submitted.Artifact) bool {
		return !found.Payload.SHA256.IsZero() && strings.HasPrefix(digitsOf(found.Payload.SHA256), digits)
	}
	for _, s := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		found, v, err := submitted.Read(ctx, o.store, s, limits.ArtifactRowsMax, keep)
		if err != nil {
			out.Unreadable = append(out.Unreadable, Unreadable{SessionID: s, Health: manifest.CorruptHead,
				Message: fault.Of(err).Message})
			continue
		}
		if v.Damaged() {
			out.Unreadable = append(out.Unreadable, Unreadable{SessionID: s, Health: v.Health,
				Message: LastFinding(v)})
		}
		obs := &observer{v: o}
		for _, use := range found.Outputs {
			if !out.SHA256.IsZero() && out.SHA256 != use.Payload.SHA256 {
				return fault.New(fault.ValidationError, "several artifacts have digests that begin with %s", digits).
					Suggest("Give more digits; %s names them all.", fault.Command{"artifacts", "list"})
			}
			if len(out.Uses) == limits.ArtifactUsesMax {
				out.MoreUses++
				continue
			}
			row := obs.rowOf(ctx, s, use, found.Node(use))
			if out.SHA256.IsZero() {
				out.SHA256, out.ContentType, out.ArtifactKind, out.Bytes = row.SHA256, row.ContentType,
					row.ArtifactKind, row.Bytes
			}
			out.Uses = append(out.Uses, row)
		}
	}
	return nil
}

// readContent fills in the content, or why there is none.
func (o *Views) readContent(ctx context.Context, out *ArtifactDetails) error {
	data, err := o.store.Object(ctx, manifest.Artifact, out.SHA256)
	switch {
	case err == nil:
	case fault.Is(err, fault.ArtifactErased):
		out.State, out.Erased = ArtifactErased, fault.Of(err).Message
		return nil
	case session.IsMissing(err) && slices.ContainsFunc(out.Uses, isForeign):
		out.State = ArtifactForeign
		return nil
	case session.IsMissing(err) && len(out.Uses) == 0:
		return artifactNotFound(out.SHA256.String())
	default:
		return err
	}
	out.State, out.Bytes, out.Form = ArtifactStored, int64(len(data)), BinaryContent
	if !utf8.Valid(data) || slices.Contains(data, 0) {
		return nil
	}
	if out.Form = TextContent; len(data) <= limits.ArtifactShownBytesMax {
		if _, err := canon.Parse(data); err == nil {
			out.Form = JSONContent
		}
	}
	out.Content = reason.Clip(string(data[:min(len(data), limits.ArtifactShownBytesMax+utf8.UTFMax)]),
		limits.ArtifactShownBytesMax)
	out.CutBytes = int64(len(data) - len(out.Content))
	return nil
}

func isForeign(row ArtifactRow) bool { return row.State == ArtifactForeign }

const (
	digestBytes = 32
	// digestPrefixMin is the number of digits that a prefix of a digest has at least.
	digestPrefixMin = 6
)

// digestDigits returns the hexadecimal digits of a digest or of a prefix of one.
func digestDigits(ref string) (string, error) {
	digits := strings.ToLower(strings.TrimPrefix(ref, "sha256:"))
	if len(digits) < digestPrefixMin || len(digits) > 2*digestBytes || strings.Trim(digits, "0123456789abcdef") != "" {
		other := id.Typed(ref)
		if f := fault.WrongKind(fault.ValidationError, other, id.Noun(other), "an artifact"); f != nil {
			list := fault.Command{"artifacts", "list"}
			if id.Noun(other) == "a run" {
				list = append(list, other)
			}
			f.Message += "; an artifact is named by its digest"
			return "", f.Suggest("%s shows the digests.", list)
		}
		return "", fault.New(fault.ValidationError, "%q is not a digest: want sha256: and 64 hexadecimal digits, or at "+
			"least the first %d of them", ref, digestPrefixMin).
			Suggest("%s shows the digests.", fault.Command{"artifacts", "list"})
	}
	return digits, nil
}

// digitsOf returns the digits of a digest.
func digitsOf(d canon.Digest) string { return strings.TrimPrefix(d.String(), "sha256:") }

// artifactNotFound is ARTIFACT_NOT_FOUND.
func artifactNotFound(ref string) error {
	return fault.New(fault.ArtifactNotFound, "the store holds no artifact %s", ref).
		Suggest("%s names the artifacts of the store.", fault.Command{"artifacts", "list"})
}

// OpenArtifact opens the bytes of an artifact, whose digest was recomputed before: a reader of the
// stream gets no byte of a damaged one. ref as for Views.Artifact. Errors as there, and
// ARTIFACT_ERASED.
func (o *Views) OpenArtifact(ctx context.Context, s ports.ObjectStreams, ref string) (r io.ReadCloser, d canon.Digest,
	err error) {
	digits, err := digestDigits(ref)
	if err != nil {
		return nil, d, err
	}
	var details ArtifactDetails
	if len(digits) == 2*digestBytes {
		d, err = canon.ParseDigest("sha256:" + digits)
	} else if details, err = session.Whole(o.store, func() (out ArtifactDetails, err error) {
		return out, o.usesOf(ctx, digits, &out)
	}); err == nil {
		if d = details.SHA256; d.IsZero() {
			err = artifactNotFound(ref)
		}
	}
	if err != nil {
		return nil, d, err
	}
	for checked := false; ; checked = true {
		r, _, err = s.ObjectStream(ctx, manifest.Artifact, d)
		if err != nil {
			return nil, d, o.unopened(ctx, d, err)
		}
		if checked {
			return r, d, nil
		}
		_, err = io.Copy(io.Discard, r)
		_ = r.Close()
		if err != nil {
			return nil, d, err
		}
	}
}

// unopened says why an artifact cannot be opened: one that no session names is not found.
func (o *Views) unopened(ctx context.Context, d canon.Digest, err error) error {
	if !session.IsMissing(err) {
		return err
	}
	out, other := o.artifact(ctx, d.String())
	switch {
	case other != nil:
		return other
	case out.State == ArtifactForeign:
		use := out.Uses[slices.IndexFunc(out.Uses, isForeign)]
		return fault.New(fault.ArtifactNotFound, "another program recorded the artifact %s inside its event %d: the store "+
			"has no file of it", d, use.EventIndex).
			Suggest("%s prints the event.", fault.Command{"runs", "events", use.RunID.String()})
	}
	return err
}
