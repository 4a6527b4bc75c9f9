package jsonpath_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/jsonpath"
)

func parse(t testing.TB, text string) *jsonpath.Query {
	t.Helper()
	q, err := jsonpath.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return q
}

func texts(t testing.TB, nodes [][]byte) string {
	t.Helper()
	var all []string
	for _, node := range nodes {
		text, err := value.AppendJSON(nil, node)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return strings.Join(all, " ")
}

func TestSelect(t *testing.T) {
	const doc = `{"a":[{"n":1,"s":"x"},{"n":2,"s":"yy"},{"n":3}],"b":{"c":{"n":4}},"p":"y+"}`
	for query, want := range map[string]string{
		`$`:                                doc,
		`$.a[*].n`:                         "1 2 3",
		`$..n`:                             "1 2 3 4",
		`$.a[-1].n`:                        "3",
		`$.a[::-1].n`:                      "3 2 1",
		`$.a[2:0:-1].n`:                    "3 2",
		`$.a[5:-5:-2].n`:                   "3 1",
		`$.a[0,0]["n",'s']`:                `1 "x" 1 "x"`,
		`$.a[?@.n>1&&@.s].s`:               `"yy"`,
		`$.a[?!@.s].n`:                     "3",
		`$.a[?length(@.s)==2].n`:           "2",
		`$[?count(@.*)==3]..s`:             `"x" "yy"`,
		`$.a[?match(@.s,$.p)].n`:           "2",
		`$.a[?search(@.s,'x|y')].n`:        "1 2",
		`$.a[?@.n==value($.b..n)||@.n==1]`: `{"n":1,"s":"x"}`,
		`$.a[?@.missing==$.gone].n`:        "1 2 3",
		`$.a[?match(@.s, '\\d')]`:          "",
		`$.b.c.n.x[0]..*`:                  "",
		`$..[?@.n==4].n`:                   "4",
		`$[?@..n]..c`:                      `{"n":4}`,
	} {
		nodes, err := parse(t, query).Select(enc(t, doc))
		if got := texts(t, nodes); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
		ok, err := finds(parse(t, query), enc(t, doc))
		if err != nil || ok != (want != "") {
			t.Errorf("%s finds something: %v, %v", query, ok, err)
		}
	}
}

// finds reports whether a query selects anything, and stops at the first node.
func finds(q *jsonpath.Query, root []byte) (found bool, err error) {
	err = q.Each(root, jsonpath.BudgetFor(len(root)), func([]byte) bool {
		if found {
			panic("called again")
		}
		found = true
		return false
	})
	return found, err
}

// Evaluations with a common budget exhaust it together.
func TestSharedBudget(t *testing.T) {
	q, doc := parse(t, `$[*]`), enc(t, `[1,2,3]`)
	budget := &jsonpath.Budget{Nodes: 7, Steps: 100}
	var errs []error
	for range 3 {
		errs = append(errs, q.Each(doc, budget, func([]byte) bool { return true }))
	}
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], jsonpath.ErrTooManyNodes) {
		t.Errorf("%v", errs)
	}
	if budget = (&jsonpath.Budget{Nodes: 7, Steps: 3}); !errors.Is(q.Each(doc, budget, func([]byte) bool { return true }), jsonpath.ErrTooManySteps) {
		t.Error("three steps are enough")
	}
}

func TestParseErrors(t *testing.T) {
	for query, want := range map[string]string{
		``:                         "a query starts with $ at byte 0",
		`a`:                        "a query starts with $ at byte 0",
		`$ `:                       "unexpected character at byte 1",
		`$.`:                       "expected a name at byte 2",
		`$.a[`:                     "expected a selector at byte 4",
		`$['a`:                     "unclosed string at byte 4",
		`$["\x"]`:                  "invalid escape at byte 4",
		`$["\ud800"]`:              "lone surrogate at byte 9",
		`$[01]`:                    "leading zero at byte 2",
		`$[9007199254740992]`:      "integer beyond 2^53-1 at byte 2",
		`$[?@.a==]`:                "expected a query, a literal or a function at byte 8",
		`$[?@.*==1]`:               "a query that may select several nodes has no value at byte 3",
		`$[?length(@)]`:            "a value is not a test at byte 3",
		`$[?count(1)==1]`:          "the function needs a query at byte 9",
		`$[?match(@.a,'b')==true]`: "a test has no value at byte 3",
		`$[?foo(@)]`:               "unknown function at byte 3",
		`$[?@.a=1]`:                "expected ] at byte 6",
		`$[?(@.a]`:                 "expected ) at byte 7",
		`$[?@.a&@.b]`:              "expected & at byte 7",
		"$.\xff":                   "text that is not UTF-8 at byte 0",
		`$` + strings.Repeat(`[?@`, 101) + strings.Repeat(`]`, 101):      "nested too deeply at byte 302",
		`$[?` + strings.Repeat(`(`, 10000) + strings.Repeat(`)`, 10000):  "nested too deeply at byte 103",
		`$[?` + strings.Repeat(`length(`, 200) + strings.Repeat(`)`, 10): "nested too deeply at byte 703",
	} {
		_, err := jsonpath.Parse(query)
		var typed *jsonpath.Error
		if !errors.As(err, &typed) || err.Error() != "jsonpath: "+want {
			t.Errorf("%.40s: %v, want %s", query, err, want)
		}
	}
}

// Queries that would exhaust memory or time fail.
func TestLimits(t *testing.T) {
	deep := strings.Repeat("[", 400) + strings.Repeat("1,", 2000) + "1" + strings.Repeat("]", 400)
	wide := "[" + strings.Repeat("1,", 400000) + "1]"
	texts := "[" + strings.Repeat(`"`+strings.Repeat("a", 100)+`",`, 2000) + `"b"]`
	for _, c := range []struct {
		name, query, doc string
		want             error
	}{
		{"nodes", `$[*]`, wide, jsonpath.ErrTooManyNodes},
		{"nodes in reverse", `$[::-1]`, wide, jsonpath.ErrTooManyNodes},
		{"nodes twice", `$[*,*]`, "[" + strings.Repeat("1,", 150000) + "1]", jsonpath.ErrTooManyNodes},
		{"descent", `$..*..*..*`, strings.Repeat("[", 60) + strings.Repeat("1,", 300) + "1" + strings.Repeat("]", 60), jsonpath.ErrTooManyNodes},
		{"descent without an answer", `$..*..*..*..a`, deep, jsonpath.ErrTooManySteps},
		{"every node with every other", `$[?count($..*)==7]`, wide, jsonpath.ErrTooManySteps},
		{"filters in filters", `$..[?@..[?@..[?@..[?@==0]]]]`, deep, jsonpath.ErrTooManySteps},
		{"comparison", `$[?$==$[0]]`, "[" + wide + "," + wide + strings.Repeat(",1", 3000) + "]", jsonpath.ErrTooManySteps},
		{"large comparisons", `$[?@==$[0]]`, "[" + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 100000)+`",`, 200), ",") + "]", nil},
		{"pattern", `$[?search(@,'((a?){40}){40}c')]`, texts, jsonpath.ErrTooManySteps},
		{"patterns from the value", `$[?search('a',@)]`, "[" + strings.Repeat(`"((a?){40}){40}c",`, 200) + "1]", nil},
		{"different patterns from the value", `$..[?search('a',@)]`, patterns(2000), jsonpath.ErrTooManySteps},
		{"depth", `$..[?@..*]`, strings.Repeat(`[`, 512) + strings.Repeat(`]`, 512), nil},
		{"depth of filters", `$..[?count($..*)<0]`, strings.Repeat(`[`, 512) + strings.Repeat(`]`, 512), jsonpath.ErrTooDeep},
	} {
		nodes, err := parse(t, c.query).Select(enc(t, c.doc))
		if !errors.Is(err, c.want) || err != nil && nodes != nil {
			t.Errorf("%s: %d nodes, %v, want %v", c.name, len(nodes), err, c.want)
		}
	}
}

func patterns(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"((a?){40}){40}c%d"`, i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func TestMalformedValue(t *testing.T) {
	whole := enc(t, `{"a":[1,{"b":"c"}],"d":[2,3]}`)
	for n := range whole {
		nodes, err := parse(t, `$..*`).Select(whole[:n])
		if err == nil && n > 0 {
			t.Errorf("%d bytes: %d nodes and no error", n, len(nodes))
		}
	}
}

func ExampleQuery_Select() {
	doc, _ := value.FromJSON(nil, []byte(`{"books":[{"title":"A","price":8},{"title":"B","price":12}]}`))
	q, err := jsonpath.Parse(`$.books[?@.price < 10].title`)
	if err != nil {
		panic(err)
	}
	nodes, err := q.Select(doc)
	if err != nil {
		panic(err)
	}
	for _, node := range nodes {
		text, _ := value.AppendJSON(nil, node)
		fmt.Println(string(text))
	}
	// Output: "A"
}

var fuzzQueries = []string{
	`$`, `$.a['b',"c"][0,-1,1:3:-1,*]..d..[?@.a == 'x' && !(count(@..*) > 1.5e3 || match(@, "a[b]*")) || length(value(@.b)) <= $.n]`,
	`$..*..[?search(@, $.p)]`, `$[?@.a!=null][::2]`, `$["\u00e9\ud83d\ude00\n"]`,
}

func FuzzSelect(f *testing.F) {
	for _, query := range fuzzQueries {
		f.Add(query, `{"a":[{"b":{"c":1,"d":[2,"x"]}}],"p":"x|y","n":3}`)
	}
	f.Fuzz(func(t *testing.T, query, doc string) {
		q, err := jsonpath.Parse(query)
		if err != nil {
			var typed *jsonpath.Error
			if !errors.As(err, &typed) || typed.Offset < 0 || typed.Offset > len(query) {
				t.Fatalf("%q: %v", query, err)
			}
			return
		}
		root, err := value.FromJSON(nil, []byte(doc))
		if err != nil || len(root) > 1000 {
			return
		}
		nodes, err := q.Select(root)
		if err != nil {
			return
		}
		for _, node := range nodes {
			if value.Check(node) != nil {
				t.Fatalf("%q on %q selects %x", query, doc, node)
			}
		}
		found, err := finds(q, root)
		if err != nil || found != (len(nodes) > 0) {
			t.Fatalf("%q on %q: %v, %v", query, doc, found, err)
		}
		// With white space doubled outside of strings, it selects the same nodes.
		if !strings.ContainsAny(query, `'"`) {
			again, err := parse(t, strings.ReplaceAll(query, " ", "  ")).Select(root)
			if err != nil || !slices.EqualFunc(again, nodes, func(a, b []byte) bool { return string(a) == string(b) }) {
				t.Fatalf("%q on %q: %v with more white space", query, doc, err)
			}
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	doc := enc(b, `[`+strings.TrimSuffix(strings.Repeat(`{"id":12,"name":"some name","tags":["a","b"],"more":{"x":1,"y":[1,2,3]}},`, 10000), ",")+`]`)
	for _, query := range []string{`$[*].name`, `$..x`, `$[?@.id==12].tags[0]`, `$[?search(@.name,'na.e')].id`} {
		q := parse(b, query)
		b.Run(query, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for range b.N {
				if nodes, err := q.Select(doc); err != nil || len(nodes) != 10000 {
					b.Fatal(len(nodes), err)
				}
			}
		})
	}
}
