package pattern

import "strings"

// The tables of package unicode would take four times the bytes: a character has one general category and one script,
// so each of the two is a list of runs. The generated strings hold the length of each run, as an unsigned varint, and
// the place of its category or script in the list of names, 0 for none.

// unicodeProperty returns the characters that have a property: a general category or a script, by a name whose case,
// spaces, hyphens and underscores do not count. It is nil when there is no such property. strict leaves only the
// general categories by their short names.
func unicodeProperty(name string, strict bool) []rune {
	if strict {
		if len(name) == 0 || len(name) > 2 || name[0] < 'A' || name[0] > 'Z' || len(name) == 2 && name[1] < 'a' || name == "Cs" {
			return nil
		}
	} else {
		switch name = canonical(name); name {
		case "any":
			return anyRanges
		case "ascii":
			return asciiRanges
		}
		if alias, ok := lookUp(categoryAliases, name); ok {
			name = alias
		}
	}
	name = canonical(name)
	var in [256]bool
	found := false
	for i := 0; i < len(categoryNames); i += 2 {
		category := canonical(categoryNames[i : i+2])
		has := name == category || len(name) == 1 && name[0] == category[0] || name == "assigned" && category != "cn"
		has = has || name == "lc" && (category == "lu" || category == "ll" || category == "lt")
		in[i/2+1] = has
		found = found || has
	}
	if found && (!strict || name != "lc") {
		return decode(categoryLengths, categoryClasses, &in)
	}
	if !strict {
		for i, script := range strings.Fields(scriptNames) {
			if canonical(script) == name {
				in[i+1] = true
				return decode(scriptLengths, scriptClasses, &in)
			}
		}
	}
	return nil
}

// decode returns the characters of the runs whose class is in.
func decode(lengths, classes string, in *[256]bool) []rune {
	var ranges []rune
	first := rune(0)
	for i, at := 0, 0; i < len(classes); i++ {
		size := rune(0)
		for shift := 0; ; shift += 7 {
			b := lengths[at]
			at++
			if size |= rune(b&0x7f) << shift; b < 0x80 {
				break
			}
		}
		if last := first + size - 1; in[classes[i]] {
			if n := len(ranges); n > 0 && ranges[n-1] == first-1 {
				ranges[n-1] = last
			} else {
				ranges = append(ranges, first, last)
			}
		}
		first += size
	}
	return ranges
}

// lookUp returns what stands behind a name and an equals sign in a list of such pairs.
func lookUp(pairs, name string) (string, bool) {
	for _, pair := range strings.Fields(pairs) {
		if key, val, _ := strings.Cut(pair, "="); canonical(key) == name {
			return val, true
		}
	}
	return "", false
}

// canonical returns a name in lower case, without spaces, hyphens and underscores.
func canonical(name string) string {
	out := make([]byte, 0, len(name))
	for _, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != ' ' && c != '-' && c != '_' {
			out = append(out, c)
		}
	}
	return string(out)
}
