package schema

import (
	"bytes"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema/pointer"
)

// resource is a schema with an identity of its own: a document, or a part of one that has an $id.
type resource struct {
	uri     string
	root    []byte
	anchors map[string]anchor

	// What its meta-schema says.
	older               bool // a draft before 2020-12
	ignoresSiblings     bool // draft 6 and 7: nothing beside $ref counts
	annotatesValidation bool // the vocabulary of assertions is not in use
	assertsFormat       bool // format asserts, whatever the Config says
}

type anchor struct {
	node    *node
	dynamic bool
}

// dynamicAnchor returns the schema that a dynamic anchor names, nil when there is none.
func (r *resource) dynamicAnchor(name string) *node {
	if a := r.anchors[name]; a.dynamic {
		return a.node
	}
	return nil
}

// reference is a $ref or $dynamicRef that waits for all resources to be known.
type reference struct {
	from    *node
	keyword string
	target  string
	path    []step
}

// document compiles a schema document that was found at uri.
func (k *compiler) document(uri string, root []byte) *node {
	res := &resource{uri: uri, root: root}
	k.resources[uri] = res
	return k.schema(root, res)
}

// identify reads the keywords that give a schema object its place: $schema, $id and the anchors.
func (k *compiler) identify(n *node, val []byte) {
	isRoot := &n.res.root[0] == &val[0]
	if id, ok := k.text(val, "$id"); ok && !(n.res.older && strings.HasPrefix(id, "#")) {
		uri, fragment, _ := strings.Cut(id, "#")
		if fragment != "" {
			k.fail("$id", "has a fragment")
		}
		if uri != "" || !isRoot {
			uri = resolve(n.res.uri, uri)
			if isRoot {
				n.res.uri = uri
			} else {
				res := *n.res
				res.uri, res.root, res.anchors = uri, val, nil
				n.res = &res
			}
			if other := k.resources[uri]; other != nil && other != n.res {
				k.fail("$id", "is the identity of two schemas")
			}
			k.resources[uri] = n.res
			isRoot = true
		}
	}
	if dialect, ok := k.text(val, "$schema"); ok && isRoot {
		k.dialect(n.res, strings.TrimSuffix(dialect, "#"))
	}
	for _, keyword := range [...]string{"$anchor", "$dynamicAnchor"} {
		if name, ok := k.text(val, keyword); ok {
			if n.res.anchors == nil {
				n.res.anchors = map[string]anchor{}
			}
			if other := n.res.anchors[name].node; other != nil && other != n {
				k.fail(keyword, "names two schemas")
			}
			n.res.anchors[name] = anchor{n, keyword == "$dynamicAnchor"} // that one comes last
		}
	}
}

// text reads a keyword that must be a string.
func (k *compiler) text(val []byte, keyword string) (string, bool) {
	arg, ok := value.Get(val, keyword)
	if !ok {
		return "", false
	}
	s, ok := value.String(arg)
	if !ok {
		k.fail(keyword, "is not a string")
	}
	return string(s), ok
}

const draft202012 = "https://json-schema.org/draft/2020-12/"

// dialect sets how a resource is read by the meta-schema it names.
func (k *compiler) dialect(res *resource, uri string) {
	res.older, res.ignoresSiblings, res.annotatesValidation, res.assertsFormat = false, false, false, false
	switch uri {
	case draft202012 + "schema":
		return
	case "https://json-schema.org/draft/2019-09/schema":
		res.older = true
		return
	case "http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema":
		res.older, res.ignoresSiblings = true, true
		return
	}
	meta, ok := k.config.Documents[uri]
	if !ok {
		k.unsupported("$schema", "the meta-schema "+quote(uri))
		return
	}
	vocabulary, ok := value.Get(meta, "$vocabulary")
	if !ok {
		return
	}
	res.annotatesValidation = true
	_ = value.Each(vocabulary, func(name, required []byte) bool {
		switch word := strings.TrimPrefix(string(name), draft202012+"vocab/"); word {
		case "validation":
			res.annotatesValidation = false
		case "format-assertion":
			res.assertsFormat = true
		case "core", "applicator", "unevaluated", "meta-data", "format-annotation", "content":
		default:
			if must, _ := value.Bool(required); must {
				k.unsupported("$schema", "the vocabulary "+quote(word))
			}
		}
		return true
	})
}

// reference notes a reference, to be resolved by link.
func (k *compiler) reference(n *node, keyword string, arg []byte) {
	target, ok := value.String(arg)
	if !ok {
		k.fail(keyword, "is not a string")
		return
	}
	from := n
	if keyword == "$dynamicRef" { // a node of its own, as $ref may stand beside it
		from = &node{res: n.res}
		n.allOf = append(n.allOf, from)
	}
	k.refs = append(k.refs, reference{from, keyword, string(target), append([]step(nil), k.path...)})
}

// link resolves all references; schemas that only they reach are compiled on the way.
func (k *compiler) link() {
	for i := 0; i < len(k.refs) && k.err == nil; i++ {
		r := k.refs[i]
		k.path = append(k.path[:0], r.path...)
		target, anchored := k.resolve(r)
		if k.err != nil {
			return
		}
		r.from.ref = target
		if r.keyword == "$dynamicRef" && anchored != "" && target.res.dynamicAnchor(anchored) == target {
			r.from.dynamic = anchored
		}
	}
}

// resolve finds the schema that a reference names, and the anchor when it names it by one.
func (k *compiler) resolve(r reference) (target *node, anchored string) {
	uri, fragment, _ := strings.Cut(r.target, "#")
	uri = resolve(r.from.res.uri, uri)
	res := k.resources[uri]
	if res == nil {
		document, ok := k.config.Documents[uri]
		if !ok {
			k.unsupported(r.keyword, "a reference to "+quote(uri)+", which is not part of the schema,")
			return nil, ""
		}
		if err := value.Check(document); err != nil {
			k.fail(r.keyword, "the document "+quote(uri)+": "+err.Error())
			return nil, ""
		}
		path := k.path
		k.path = nil
		k.document(uri, bytes.Clone(document))
		k.path = path
		res = k.resources[uri]
	}
	fragment, ok := pointer.Unescape(fragment)
	if ok && fragment != "" && fragment[0] != '/' {
		if target = res.anchors[fragment].node; target != nil {
			return target, fragment
		}
		ok = false
	}
	place := uri + "#" + fragment
	if target = k.places[place]; target != nil {
		return target, ""
	}
	at := res.root
	for ok && fragment != "" {
		if k.work += len(at); k.work > maxWork {
			k.unsupported(r.keyword, "a schema with that many references")
			return nil, ""
		}
		var token string
		token, fragment = pointer.Next(fragment)
		at = pointer.Child(at, token)
		if ok = at != nil; ok {
			if n := k.nodes[&at[0]]; n != nil {
				res = n.res
			}
		}
	}
	if !ok {
		k.fail(r.keyword, quote(r.target)+" points nowhere")
		return nil, ""
	}
	target = k.schema(at, res)
	k.places[place] = target
	return target, ""
}
