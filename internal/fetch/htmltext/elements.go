package htmltext

import "strings"

// elements are the elements that matter, each with a letter for what it does, and the most frequent ones first.
const elements = " span=0 a=a div=1 p=2 li=l td=c br=b tr=r img=i b=0 i=0 code=0 title=t h1=h h2=h h3=h h4=h h5=h h6=h ul=u menu=u ol=o " +
	"pre=f th=c blockquote=2 table=2 dl=2 hr=2 figure=2 " +
	"address=1 article=1 aside=1 body=1 button=1 caption=1 dd=1 details=1 dialog=1 dt=1 fieldset=1 figcaption=1 footer=1 form=1 " +
	"head=1 header=1 html=1 legend=1 main=1 nav=1 option=1 section=1 select=1 summary=1 tbody=1 tfoot=1 thead=1 " +
	"script=s style=s template=s svg=s noscript=s iframe=s object=s noembed=s noframes=s math=s canvas=s audio=s video=s "

// What an element does.
const (
	plain     = 0 // nothing
	line      = '1'
	paragraph = '2'
	anchor    = 'a'
	lineBreak = 'b'
	cell      = 'c'
	formatted = 'f'
	heading   = 'h'
	image     = 'i'
	item      = 'l'
	ordered   = 'o'
	row       = 'r'
	skipped   = 's' // nobody reads what is in it
	title     = 't'
	unordered = 'u'
)

// kindOf returns what the element of a name does.
func kindOf(name string) byte {
	if strings.IndexByte(name, '=') >= 0 {
		return plain
	}
	i := strings.Index(elements, " "+name+"=")
	if i < 0 {
		return plain
	}
	return elements[i+len(name)+2]
}
