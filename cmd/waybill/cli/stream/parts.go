package stream

import (
	"bytes"
	"encoding/json"
)

// Members passes the members of a JSON object in order, with the bytes of their values.
func Members(object []byte, each func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	_, err := d.Token()
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err == nil {
			text, _ := name.(string)
			err = each(text, value)
		}
	}
	return err
}

// Items passes the items of a JSON list in order.
func Items(list []byte, each func(json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(list))
	_, err := d.Token()
	for err == nil && d.More() {
		var item json.RawMessage
		if err = d.Decode(&item); err == nil {
			err = each(item)
		}
	}
	return err
}

// AfterValue returns what follows a JSON value.
func AfterValue(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	var value json.RawMessage
	if d.Decode(&value) != nil {
		return nil
	}
	return text[d.InputOffset():]
}

// WriteMember appends a member to an object that is being written.
func WriteMember(b *bytes.Buffer, name string, value []byte) {
	between := ","
	if b.Len() == 0 {
		between = "{"
	}
	b.WriteString(between + `"` + name + `":`)
	b.Write(value)
}
