package schema

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// Report says all that is wrong with a value: in words, and as a list of {path, keyword, message}, an encoded value.
func Report(violations []Violation) (words string, list []byte) {
	var text strings.Builder
	list = value.AppendListHeader(nil, len(violations))
	for i, v := range violations {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(v.Message)
		list = value.AppendMapHeader(list, 3)
		list = value.AppendString(value.AppendString(list, "path"), v.Path)
		list = value.AppendString(value.AppendString(list, "keyword"), v.Keyword)
		list = value.AppendString(value.AppendString(list, "message"), v.Message)
	}
	return text.String(), list
}
