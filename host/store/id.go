package store

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// MaxSessionID is the most that the id of a session may take, in bytes of UTF-8.
const MaxSessionID = 512

// CheckSessionID returns the E_INVALID_SESSION_ID of an id that is too long or no UTF-8, nil for any other. The error
// names the id's field, which is also its detail.
func CheckSessionID(field, id string) error {
	why := ""
	switch {
	case len(id) > MaxSessionID:
		why = "has " + strconv.Itoa(len(id)) + " bytes, more than " + strconv.Itoa(MaxSessionID)
	case !utf8.ValidString(id):
		why = "must be valid UTF-8"
	default:
		return nil
	}
	e := host.NewError(host.Code(abi.CodeInvalidSessionID), field+": "+why, nil)
	e.Details = map[string]any{"field": field}
	return e
}

// contentPrefix begins the ids of bytes that say what the bytes are.
const contentPrefix = "sha256-"

// ContentID is the id of bytes that [Rows] puts into a store, made of their SHA-256: equal bytes have one id.
func ContentID(sum []byte) string { return contentPrefix + hex.EncodeToString(sum) }

// IsContentID tells whether an id is made of the content of its bytes.
func IsContentID(id string) bool { return strings.HasPrefix(id, contentPrefix) }
