package docs

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/ports"
)

// importMark is imported.json of a session that came home: events 19 to 26 of it, and one annotation, came with a bundle.
func (s *formatStore) importMark() []byte {
	mark := imported.Mark{AtMs: formatStart + 480_000, BundleID: id.NewBundle(id.Seed{1}).String(), Head: s.a.fold.Head.Digest}.
		WithSpan(imported.Own, imported.Span{From: 19, Events: s.a.fold.Head.Next}).
		WithSpan("annotations", imported.Span{From: 2, Events: 3})
	b, err := controlfile.Encode(controlfile.Document{Kind: ports.ImportedFile.Kind, V: imported.Version, Data: mark.Value()})
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// importMarkAgain reads and writes a mark.
func importMarkAgain(b []byte) ([]byte, error) {
	doc, err := controlfile.Decode(b, ports.ImportedFile.Kind)
	if err != nil {
		return nil, err
	}
	mark, err := imported.Read(doc.Data)
	if err != nil {
		return nil, err
	}
	doc.Data = mark.Value()
	return controlfile.Encode(doc)
}
