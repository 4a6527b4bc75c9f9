package journal

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// How much of a byte string and of a string Text shows.
const (
	longestBytes  = 48
	longestString = 400
)

// decoders decode a frame by its op.
var decoders = map[abi.Op]func([]byte) (any, error){
	abi.OpHello:       as[abi.Hello],
	abi.OpOpenRunner:  as[abi.OpenRunner],
	abi.OpCloseRunner: as[abi.CloseRunner],
	abi.OpHistory:     as[abi.History],
	abi.OpDropHistory: as[abi.DropHistory],
	abi.OpStartTurn:   as[abi.StartTurn],
	abi.OpCall:        as[abi.Call],
	abi.OpEdit:        as[abi.Edit],
	abi.OpResult:      as[abi.Result],
	abi.OpChunk:       as[abi.Chunk],
	abi.OpAbort:       as[abi.Abort],
	abi.OpTick:        as[abi.Tick],
	abi.OpWelcome:     as[abi.Welcome],
	abi.OpReply:       as[abi.Reply],
	abi.OpEvent:       as[abi.Event],
	abi.OpEffect:      as[abi.Effect],
	abi.OpCancel:      as[abi.Cancel],
	abi.OpSync:        as[abi.Sync],
	abi.OpTimer:       as[abi.Timer],
	abi.OpEnd:         as[abi.End],
	abi.OpFault:       as[abi.Fault],
}

func as[T any, P interface {
	*T
	UnmarshalMsg([]byte) ([]byte, error)
}](frame []byte) (any, error) {
	return abi.Decode[T, P](frame)
}

// Text renders a frame of either direction for people: its name and all its fields. The form may change.
func Text(frame []byte) string {
	op, _, _, err := abi.Next(frame, abi.Limits{})
	if err != nil {
		return fmt.Sprintf("%v in %s", err, hexadecimal(frame))
	}
	decode, ok := decoders[op]
	if !ok {
		return fmt.Sprintf("frame of unknown op %d: %s", op, hexadecimal(frame))
	}
	f, err := decode(frame)
	if err != nil {
		return fmt.Sprintf("%v in frame of op %d: %s", err, op, hexadecimal(frame))
	}
	v := reflect.ValueOf(f)
	return v.Type().Name() + render(v)
}

var rawType = reflect.TypeFor[abi.Raw]()

// render writes a field of a frame.
func render(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Op" {
				fields = append(fields, name+": "+render(v.Field(i)))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return render(v.Elem())
	case reflect.String:
		return quote(v.String())
	case reflect.Slice:
		if v.Type() == rawType {
			return renderRaw(v.Bytes())
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return hexadecimal(v.Bytes())
		}
		elements := make([]string, v.Len())
		for i := range elements {
			elements[i] = render(v.Index(i))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

// renderRaw writes a value that its frame carries encoded.
func renderRaw(raw []byte) string {
	if len(raw) == 0 {
		return "nil"
	}
	v, err := value.Read(raw)
	if err != nil {
		return hexadecimal(raw)
	}
	return renderValue(v)
}

func renderValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return quote(v)
	case []byte:
		return hexadecimal(v)
	case []any:
		elements := make([]string, len(v))
		for i, element := range v {
			elements[i] = renderValue(element)
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case value.Map:
		members := make([]string, len(v))
		for i, m := range v {
			members[i] = strconv.Quote(m.Key) + ": " + renderValue(m.Value)
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// quote writes a string, the beginning of it if it is long.
func quote(s string) string {
	if len(s) > longestString {
		return fmt.Sprintf("%q… (%d bytes)", s[:longestString], len(s))
	}
	return strconv.Quote(s)
}

// hexadecimal writes bytes, the first of them if there are many.
func hexadecimal(b []byte) string {
	if len(b) > longestBytes {
		return fmt.Sprintf("0x%s… (%d bytes)", hex.EncodeToString(b[:longestBytes]), len(b))
	}
	return "0x" + hex.EncodeToString(b)
}
