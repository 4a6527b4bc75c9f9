package sessionstest

import (
	"fmt"
	"strings"

	"github.com/turncore/turncore/host/sessions"
)

func ids(list []sessions.Info) string {
	var all []string
	for _, info := range list {
		all = append(all, info.User+":"+info.ID)
	}
	return strings.Join(all, " ")
}

func listCases() []testCase {
	return []testCase{
		{"sessions are listed by user, those updated last in front", func(p *place) {
			for _, id := range []string{"a", "b", "c"} {
				p.create(id, nil)
			}
			for _, other := range []string{"ad", "ada/x", "bob"} {
				if _, err := p.all.Create(p.Context(), other, "d", nil); err != nil {
					p.Fatal(err)
				}
			}
			if _, err := p.service("other").Create(p.Context(), user, "e", nil); err != nil {
				p.Fatal(err)
			}
			p.append(p.get("a"), said("x"))
			for _, all := range []*sessions.Service{p.all, p.another()} {
				list, err := all.List(p.Context(), user)
				if err != nil {
					p.Fatal(err)
				}
				p.is("those of the user", ids(list), "ada:a ada:c ada:b")
				if s := p.get("a"); list[0].Revision != s.Revision() || !list[0].UpdatedAt.Equal(s.UpdatedAt()) || list[0].CreatedAt.IsZero() {
					p.Errorf("%+v", list[0])
				}
				if list, err = all.List(p.Context(), ""); err != nil {
					p.Fatal(err)
				}
				p.is("those of all users", ids(list), "ada:a bob:d ada/x:d ad:d ada:c ada:b")
				if list, err = all.List(p.Context(), "nobody"); err != nil || len(list) > 0 {
					p.Errorf("those of nobody: %v, %v", list, err)
				}
			}
		}},
		{"a page of sessions reads no others", func(p *place) {
			for i := range 30 {
				if _, err := p.all.Create(p.Context(), "bob", fmt.Sprint(i), nil); err != nil {
					p.Fatal(err)
				}
				if i%6 == 0 {
					p.create(fmt.Sprint(i), nil)
				}
			}
			p.watched.counted()
			var all []string
			for cursor := ""; ; {
				page, next, err := p.all.ListPage(p.Context(), user, cursor, 2)
				if err != nil {
					p.Fatal(err)
				}
				if all = append(all, ids(page)); next == "" {
					break
				}
				cursor = next
			}
			p.is("the pages", strings.Join(all, ", "), "ada:24 ada:18, ada:12 ada:6, ada:0")
			if calls, read := p.watched.counted(); calls != 3 || read != 5 {
				p.Errorf("%d sessions were read in %d calls", read, calls)
			}
		}},
	}
}
