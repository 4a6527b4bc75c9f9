package sessions

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// MarshalJSON implements json.Marshaler.
func (e *Event) MarshalJSON() ([]byte, error) {
	v, err := e.encode(nil)
	if err != nil {
		return nil, err
	}
	return value.AppendJSON(nil, v)
}

// UnmarshalJSON implements json.Unmarshaler. It fails with E_INVALID_EVENT.
func (e *Event) UnmarshalJSON(text []byte) error {
	v, err := wire.FromJSON(nil, text)
	if err != nil {
		return invalid(host.CodeInvalidEvent, "", err)
	}
	read, err := decodeEvent(v)
	if err != nil {
		return err
	}
	*e = *read
	return nil
}

// MarshalJSON implements json.Marshaler.
func (c *Content) MarshalJSON() ([]byte, error) {
	v, err := encoded(nil, c.form(), "content", host.CodeInvalidEvent)
	if err != nil {
		return nil, err
	}
	return value.AppendJSON(nil, v)
}

// UnmarshalJSON implements json.Unmarshaler. It fails with E_INVALID_EVENT.
func (c *Content) UnmarshalJSON(text []byte) error {
	v, err := wire.FromJSON(nil, text)
	if err != nil {
		return invalid(host.CodeInvalidEvent, "content", err)
	}
	var d decoder
	read := d.content(at("content"), v)
	if d.err != nil {
		return invalid(host.CodeInvalidEvent, d.field, d.err)
	}
	if read == nil {
		read = &Content{}
	}
	*c = *read
	return nil
}
