package docs

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/derive"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// formatSealed spells what the page says about seals.
func (s *formatStore) formatSealed(what string, doc []byte) string {
	seal := derive.Seal("waybill 2026 v1 head cache "+what, s.key[:], doc)
	return hex.EncodeToString(seal[:]) + " " + string(doc) + "\n"
}

// headCache is the head cache of a session of the example store.
func (s *formatStore) headCache(l *formatSession) []byte {
	brief, err := canon.Marshal(l.fold.Brief())
	if err != nil {
		s.t.Fatal(err)
	}
	fold, _, ok := l.fold.Save(limits.HeadCacheBytesMax)
	if !ok {
		s.t.Fatal("the fold is not saved")
	}
	return []byte(s.formatSealed("brief", brief) + s.formatSealed("fold", fold))
}

// headCacheAgain reads the example's fold and writes it once more.
func (s *formatStore) headCacheAgain(body []byte) ([]byte, error) {
	first, rest, _ := bytes.Cut(body, []byte{'\n'})
	_, doc, _ := bytes.Cut(rest, []byte{' '})
	f, err := runs.LoadFold(doc)
	if err != nil {
		return nil, err
	}
	again, _, ok := f.Save(limits.HeadCacheBytesMax)
	if !ok {
		return nil, fmt.Errorf("not saved")
	}
	return []byte(string(first) + "\n" + s.formatSealed("fold", again)), nil
}

// TestFormatHeadCacheIsBelieved: the program believes a head cache that is spelled
// as the page says: one that names a later head than the log has proves a loss.
func TestFormatHeadCacheIsBelieved(t *testing.T) {
	s := newFormatStore(t)
	dir := filepath.Join(t.TempDir(), "store")
	last := s.a.segs[len(s.a.segs)-1]
	files := s.files
	files[s.a.log.Root+"/"+manifest.FileName] = s.a.lines[:s.a.fold.Head.GroupAt]
	delete(files, s.a.log.Root+"/"+manifest.SegmentDir+"/"+last.Name())
	files[fmt.Sprintf("%s/cache/head-%d", s.a.log.Root, runs.SavedFormat)] = s.headCache(s.a)
	for name, b := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v, err := formatOpen(t, dir).VerifySession(context.Background(), s.a.log.Owner)
	if err != nil || v.OK || v.Sessions[0].Health != manifest.CorruptTail ||
		!slices.ContainsFunc(v.Sessions[0].Findings, func(f manifest.Finding) bool {
			return f.Code == manifest.LostTail && strings.Contains(f.Message, "head cache")
		}) {
		t.Errorf("%+v %v", v, err)
	}
}
