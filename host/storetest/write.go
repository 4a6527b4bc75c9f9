package storetest

import (
	"fmt"
	"strings"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

func writeCases() []testCase {
	return []testCase{
		{name: "records keep their order", run: func(p *place) {
			s := p.store()
			var want []string
			for n := range 50 {
				id := fmt.Sprintf("%c%d", 'z'-n%26, 50-n)
				want = append(want, id+"=x")
				p.write(s, session, put(message(id, "x")))
			}
			var deltas []store.Delta
			for n := range 50 {
				id := fmt.Sprintf("%c%d", 'Z'-n%26, 50-n)
				want = append(want, id+"=x")
				deltas = append(deltas, put(message(id, "x")))
			}
			p.write(s, session, deltas...)
			p.expect(s, session, strings.Join(want, " "))
			p.expect(p.again(s), session, strings.Join(want, " "))
		}},
		{name: "writes", run: func(p *place) {
			s := p.store()
			group := func() []store.Delta {
				return []store.Delta{put(toolCall("u", "1")), put(toolCall("v", "1")), put(toolCall("w", "1")), put(toolCall("x", "1"))}
			}
			for n, c := range []struct {
				deltas []store.Delta
				want   string
			}{
				{[]store.Delta{put(message("a", "1")), put(message("b", "2")), put(message("a", "3"))}, "a=3 b=2"},
				{[]store.Delta{put(message("a", "1")), put(message("b", "2")), change(message("a", "3"))}, "a=3 b=2"},
				{[]store.Delta{put(message("a", "1")), put(message("b", "2")), remove(record.KindMessage, "a")}, "b=2"},
				{[]store.Delta{put(message("a", "1")), put(message("b", "2")), remove(record.KindMessage, "a"), put(message("a", "3"))}, "b=2 a=3"},
				{[]store.Delta{change(message("a", "1"))}, "a=1"},
				{[]store.Delta{remove(record.KindMessage, "a")}, ""},
				{[]store.Delta{put(message("same", "1")), put(memory("same", "2")), put(toolCall("same", "3")), remove(record.KindMessage, "same")}, "same=2 same"},
				{[]store.Delta{put(record.NewInstruction("i")), put(record.NewInstruction("j")), put(record.NewInstruction("i"))}, "i j"},
				{[]store.Delta{put(record.NewInstruction("i")), put(record.NewInstruction("j")), rewrite("i", "k")}, "k j"},
				{[]store.Delta{put(record.NewInstruction("i")), put(record.NewInstruction("j")), put(record.NewInstruction("k")), rewrite("k", "i")}, "j i"},
				{[]store.Delta{put(record.NewInstruction("i")), put(record.NewInstruction("j")), rewrite("i", "i")}, "i j"},
				{[]store.Delta{rewrite("x", "i")}, "i"},
				{[]store.Delta{put(record.NewInstruction("i")), remove(record.KindInstruction, "i")}, ""},
				{append(group(), replace([]string{"v", "w"}, toolCall("n", "1"))), "u n x"},
				{append(group(), replace([]string{"w", "v"}, toolCall("n", "1"), toolCall("m", "1"), toolCall("o", "1"))), "u n m o x"},
				{append(group(), replace([]string{"u", "x"}, toolCall("n", "1"))), "n v w"},
				{append(group(), replace([]string{"v", "w"})), "u x"},
				{append(group(), replace([]string{"v", "w"}, toolCall("w", "2"))), "u w x"},
				{append(group(), replace([]string{"y"}, toolCall("n", "1"))), "u v w x n"},
				{append(group(), replace(nil, toolCall("n", "1"))), "u v w x n"},
				{append(group(), replace([]string{"x"}, toolCall("n", "1")), put(toolCall("y", "1"))), "u v w n y"},
				{append(group(), replace([]string{"v"}, toolCall("n", "1")), replace([]string{"n"}, toolCall("o", "1"), toolCall("q", "1"))), "u o q w x"},
			} {
				whole, single := fmt.Sprint("whole ", n), fmt.Sprint("single ", n)
				p.write(s, whole, c.deltas...)
				for _, d := range c.deltas {
					p.write(s, single, d)
				}
				p.expect(s, whole, c.want)
				p.expect(s, single, c.want)
			}
		}},
		{name: "a group in the same place again and again", run: func(p *place) {
			s := p.store()
			p.write(s, session, put(toolCall("first", "1")), put(toolCall("0", "1")), put(toolCall("last", "1")))
			want := ""
			for n := range 60 {
				p.write(s, session, replace([]string{fmt.Sprint(n)}, toolCall("k"+fmt.Sprint(n), "1"), toolCall(fmt.Sprint(n+1), "1")))
				want += fmt.Sprintf(" k%d", n)
			}
			p.expect(s, session, "first"+want+" 60 last")
			p.write(s, session, put(toolCall("behind", "1")))
			p.expect(p.again(s), session, "first"+want+" 60 last behind")
		}},
		{name: "sessions are apart", run: func(p *place) {
			s := p.store()
			for _, id := range []string{"a", "b", "A", "a ", " a", "ab"} {
				p.write(s, id, put(message("m", "of "+id)), put(record.NewInstruction("be "+id)))
			}
			p.write(s, "a", remove(record.KindMessage, "m"))
			for _, id := range []string{"b", "A", "a ", " a", "ab"} {
				p.expect(s, id, "be "+id+" m=of "+id)
			}
			p.expect(s, "a", "be a")
		}},
		{name: "a commit without writes", run: func(p *place) {
			s := p.store()
			p.write(s, session)
			p.write(s, session, put(message("a", "1")))
			before := p.load(s, session, "")
			p.commit(s, session, store.Commit{Ended: []string{"t"}, Revision: before.Revision})
			p.expect(s, session, "a=1")
		}},
		{name: "what was loaded stays as it is", run: func(p *place) {
			s := p.store()
			p.write(s, session, put(message("a", "1")), put(message("b", "2")), put(toolCall("x", "1")))
			before := p.load(s, session, "")
			p.write(s, session, change(message("a", "9")), remove(record.KindMessage, "b"), replace([]string{"x"}, toolCall("y", "1")), put(message("c", "3")))
			if got := brief(before); got != "a=1 b=2 x" {
				p.Errorf("it became %q", got)
			}
			p.expect(s, session, "a=9 c=3 y")
		}},
	}
}
