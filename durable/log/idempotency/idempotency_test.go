package idempotency_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
)

var (
	store = id.NewStore(id.Seed{1})
	body  = canon.Sum([]byte("{}"))
)

func response(t *testing.T, answer canon.Value, ordinal int64) idempotency.ResponseRecorded {
	t.Helper()
	r, kept := idempotency.New("key", "POST /x", body, 201, answer, 5, ordinal)
	if !kept {
		t.Fatal("it is not kept")
	}
	return r
}

func TestRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	log := idempotency.LogOf(store)
	for i, answer := range []canon.Value{{}, canon.OfMembers(), canon.OfString("Größe 😀"), canon.OfList(canon.OfInt(1), canon.OfFloat(0.5)),
		canon.OfMembers(canon.Member{Name: "a", Value: canon.OfMembers(canon.Member{Name: "b", Value: canon.OfBool(true)})})} {
		e := event.New(store.String(), int64(i), event.Scope{}, event.Actor{Kind: event.Engine}, 5, response(t, answer, int64(i)))
		seg, err := manifest.EncodeSegment(log, []event.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		back, err := manifest.DecodeSegment(log, int64(i), int64(i), seg.Bytes)
		if err != nil || back.Events[0].Foreign() {
			t.Fatalf("%s: %v", seg.Bytes, err)
		}
		if r, ok := back.Events[0].Data.(idempotency.ResponseRecorded); !ok || !r.Answer.Equal(answer) || r.Status != 201 {
			t.Errorf("%+v", back.Events[0].Data)
		}
		again, err := idempotency.Table.AppendLine(nil, back.Events[0])
		if err != nil || !bytes.Equal(again, seg.Bytes) {
			t.Errorf("%s\n%s: %v", again, seg.Bytes, err)
		}
	}
}

func TestCheckRefusesInvalidRecords(t *testing.T) {
	t.Parallel()
	good := response(t, canon.Value{}, 0)
	if err := good.Check(event.Scope{}); err != nil {
		t.Fatal(err)
	}
	deep := canon.Value{}
	for range limits.ContextDepthMax + 1 {
		deep = canon.OfList(deep)
	}
	for name, change := range map[string]func(*idempotency.ResponseRecorded){
		"ordinal":           func(r *idempotency.ResponseRecorded) { r.Ordinal = -1 },
		"ordinal too large": func(r *idempotency.ResponseRecorded) { r.Ordinal = limits.EventIndexMax + 1 },
		"no key":            func(r *idempotency.ResponseRecorded) { r.KeyDigest = canon.Digest{} },
		"no body":           func(r *idempotency.ResponseRecorded) { r.BodyDigest = canon.Digest{} },
		"time":              func(r *idempotency.ResponseRecorded) { r.AtMs = -1 },
		"no route":          func(r *idempotency.ResponseRecorded) { r.Route = "" },
		"long route": func(r *idempotency.ResponseRecorded) {
			r.Route = strings.Repeat("x", limits.IdempotencyRouteBytesMax+1)
		},
		"route of bytes": func(r *idempotency.ResponseRecorded) { r.Route = "\xff" },
		"status":         func(r *idempotency.ResponseRecorded) { r.Status = 401 },
		"server error":   func(r *idempotency.ResponseRecorded) { r.Status = 500 },
		"long answer": func(r *idempotency.ResponseRecorded) {
			r.Answer = canon.OfString(strings.Repeat("x", limits.IdempotencyAnswerBytesMax-1))
		},
		"deep answer": func(r *idempotency.ResponseRecorded) { r.Answer = deep },
	} {
		r := good
		if change(&r); r.Check(event.Scope{}) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestKeyDigestSeparatesKeyAndRoute: no other key and route have the digest, and the digest is not that of the key alone.
func TestKeyDigestSeparatesKeyAndRoute(t *testing.T) {
	t.Parallel()
	seen := map[canon.Digest]bool{canon.Sum([]byte("ab")): true}
	for _, c := range [][2]string{{"ab", "c"}, {"a", "bc"}, {"", "abc"}, {"abc", ""}, {`a","b`, "c"}, {"c", "ab"}} {
		d := idempotency.KeyDigest(c[0], c[1])
		if seen[d] {
			t.Errorf("%q has a digest that another one has", c)
		}
		seen[d] = true
	}
}

// TestTimeOfAnAnswer: it counts for a day, and while the clock is behind.
func TestTimeOfAnAnswer(t *testing.T) {
	t.Parallel()
	for now, want := range map[int64]bool{0: false, 5: false, 5 + limits.IdempotencyWindowMs: false, 6 + limits.IdempotencyWindowMs: true} {
		if idempotency.IsExpired(5, now) != want {
			t.Errorf("at %d: %v", now, !want)
		}
	}
}
