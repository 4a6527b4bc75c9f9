package wasmfile

import "testing"

func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, 63, 64, 127, 128, 8191, 8192, 1 << 20, 1<<31 - 1, -1, -64, -65, -(1 << 31), 1<<63 - 1, -1 << 63} {
		r := Reader{Rest: AppendInt(nil, v)}
		if got := r.Int(); got != v || r.Failed || len(r.Rest) != 0 {
			t.Errorf("%d became %d, %d bytes are left", v, got, len(r.Rest))
		}
	}
	for _, b := range []string{"", "\x80", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if r := (Reader{Rest: []byte(b)}); r.Int() != 0 || !r.Failed {
			t.Errorf("%x was read", b)
		}
		if r := (Reader{Rest: []byte(b)}); r.Uint() != 0 || !r.Failed || r.Rest != nil {
			t.Errorf("%x was read as unsigned", b)
		}
	}
}

func TestSections(t *testing.T) {
	r := Reader{Rest: AppendSized(AppendSized([]byte{Code}, []byte("code")), []byte("rest"))}
	if id, body := r.Section(); id != Code || string(body) != "code" {
		t.Errorf("section %d: %q", id, body)
	}
	if got := r.Name(); got != "rest" || r.Failed {
		t.Errorf("then %q", got)
	}
	if id, body := r.Section(); id != 0 || body != nil || !r.Failed {
		t.Errorf("at the end: section %d: %q", id, body)
	}
}
