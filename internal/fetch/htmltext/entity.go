package htmltext

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// latin are the entities of the characters from 160 on, in their order.
const latin = " nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot " +
	"cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave " +
	"Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute " +
	"acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml " +
	"divide oslash ugrave uacute ucirc uuml yacute thorn yuml "

// others are further entities, each with what it stands for.
const others = " amp=& lt=< gt=> quot=\" apos=' hellip=… mdash=— ndash=– lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ bull=• euro=€ trade=™ " +
	"larr=← uarr=↑ rarr=→ darr=↓ harr=↔ minus=− le=≤ ge=≥ ne=≠ asymp=≈ infin=∞ check=✓ star=☆ lsaquo=‹ rsaquo=› prime=′ dagger=† " +
	"permil=‰ OElig=Œ oelig=œ Scaron=Š scaron=š Yuml=Ÿ lsqb=[ rsqb=] lbrace={ rbrace=} lpar=( rpar=) num=# ast=* colon=: comma=, period=. " +
	"sol=/ alpha=α beta=β gamma=γ delta=δ lambda=λ mu=μ pi=π sigma=σ omega=ω Delta=Δ Sigma=Σ Omega=Ω "

// maxEntity is the longest name or number of an entity, in bytes.
const maxEntity = 8

// unescape replaces the entities of a text. A space that does not break is a space.
func unescape(text []byte) []byte {
	i := bytes.IndexByte(text, '&')
	if i < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:i]...)
	for i < len(text) {
		if text[i] == '&' {
			end := bytes.IndexByte(text[i:min(len(text), i+maxEntity+2)], ';')
			if r := entity(string(text[i+1 : i+max(end, 1)])); r >= 0 {
				out = utf8.AppendRune(out, r)
				i += end + 1
				continue
			}
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// entity returns what an entity stands for, -1 if there is none of the name.
func entity(name string) (r rune) {
	if name == "" || strings.ContainsAny(name, " =") {
		return -1
	}
	if name[0] == '#' {
		base, digits := 10, name[1:]
		if len(digits) > 0 && digits[0]|0x20 == 'x' {
			base, digits = 16, digits[1:]
		}
		code, err := strconv.ParseUint(digits, base, 31)
		switch r = rune(code); {
		case err != nil:
			return -1
		case r == 0 || !utf8.ValidRune(r):
			r = utf8.RuneError
		}
	} else if i := strings.Index(latin, " "+name+" "); i >= 0 {
		r = rune(160 + strings.Count(latin[:i], " "))
	} else if i = strings.Index(others, " "+name+"="); i >= 0 {
		r, _ = utf8.DecodeRuneInString(others[i+len(name)+2:])
	} else {
		return -1
	}
	if r == 160 {
		r = ' '
	}
	return r
}
