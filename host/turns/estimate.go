package turns

import (
	"errors"
	"maps"
	"slices"
	"unicode/utf16"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/internal/tokens"
	"github.com/turncore/turncore/host/record"
)

// previewUnits is how many UTF-16 code units of a text a warning shows.
const previewUnits = 80

// validateTokenizers appends to list what is wrong with tokenizers. The built-in name is an error of its own when
// nothing else is wrong.
func validateTokenizers(tokenizers map[string]record.Tokenizer, list []string) ([]string, error) {
	builtIn := false
	for _, name := range slices.Sorted(maps.Keys(tokenizers)) {
		switch {
		case name == tokens.Claude:
			builtIn = true
		case name == "":
			list = append(list, "`tokenizers` must have names that are not empty")
		case tokenizers[name] == nil:
			list = append(list, abi.Violation(string(abi.KindFunction), "field", "tokenizers."+name))
		}
	}
	if !builtIn {
		return list, nil
	}
	if len(list) == 0 {
		return nil, newError(abi.CodeTokenEstimatorShadowsBuiltin, tokens.Claude, nil)
	}
	return append(list, "`tokenizers."+tokens.Claude+"` is built in and cannot be replaced"), nil
}

// count has a tokenizer count texts, and checks what it says.
func count(tokenizer record.Tokenizer, encoding string, texts []string) (counts []int, err error) {
	defer panics.Recovered(&err)
	if counts, err = tokenizer(texts); err != nil {
		return nil, err
	}
	if len(counts) != len(texts) || slices.ContainsFunc(counts, func(n int) bool { return n < 0 || int64(n) > abi.MaxInt }) {
		return nil, errors.New("the tokenizer for " + encoding + " must return a count for each text")
	}
	return counts, nil
}

// EstimateTokens estimates the tokens of texts in an encoding: for "claude" a token is 3.5 UTF-16 code units; another
// encoding is counted by the runner's tokenizer for it, all texts in one call. Without a tokenizer, or if it fails, a
// token is 4 code units, and a warning event of the kind token-estimation-degraded says so, once per encoding and
// context. The error is E_INVALID_VALUE, for an encoding without a name.
func (b *base) EstimateTokens(encoding string, texts ...string) ([]int, error) {
	if encoding == "" {
		return nil, newError(abi.CodeInvalidValue, "encoding: must be a non-empty string", nil)
	}
	counts := make([]int, len(texts))
	if encoding != tokens.Claude && len(texts) > 0 {
		why := "there is no tokenizer for " + encoding
		var failure error
		if tokenizer := b.program.config.tokenizers[encoding]; tokenizer != nil {
			exact, err := count(tokenizer, encoding, texts)
			if err == nil {
				return exact, nil
			}
			why, failure = "the tokenizer for "+encoding+" failed", err
		}
		b.warnEstimate(encoding, texts[0], why, failure)
	}
	for i, text := range texts {
		counts[i] = tokens.Estimate(encoding, text)
	}
	return counts, nil
}

// warnEstimate tells observers that tokens are estimated by length, unless the turn has ended.
func (b *base) warnEstimate(encoding, text, why string, failure error) {
	detail := value.AppendString(value.AppendString(value.AppendMapHeader(nil, 2), "encoding"), encoding)
	detail = value.AppendString(value.AppendString(detail, "textPreview"), clipUnits(text, previewUnits))
	args := &abi.WarnArgs{
		Kind: "token-estimation-degraded", Message: why + ": tokens are estimated from the length of the text", Once: encoding, Payload: detail,
	}
	b.state.Warn(args, failure)
}

// clipUnits cuts a text to n UTF-16 code units.
func clipUnits(text string, n int) string {
	for i, r := range text {
		if n -= utf16.RuneLen(r); n < 0 {
			return text[:i]
		}
	}
	return text
}
