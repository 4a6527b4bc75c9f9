package typed

import "time"

//go:generate go tool -modfile=../../../.ci/tools/go.mod msgp -file types_test.go -o types_msgp_test.go -tests=false -unexported -io=false
//go:generate go tool -modfile=../../../.ci/tools/go.mod gofumpt -w types_msgp_test.go

// order has a codec of its own, with the names of its JSON.
type order struct {
	ID       string            `json:"id" msg:"id"`
	Price    float64           `json:"price" msg:"price"`
	Weight   float32           `json:"weight,omitempty" msg:"weight,omitempty"`
	Count    int               `json:"count" msg:"count"`
	Paid     bool              `json:"paid" msg:"paid"`
	At       time.Time         `json:"at" msg:"at"`
	Photo    []byte            `json:"photo" msg:"photo"`
	Tags     []string          `json:"tags" msg:"tags"`
	Notes    map[string]string `json:"notes" msg:"notes"`
	Lines    []line            `json:"lines" msg:"lines"`
	Discount *float64          `json:"discount" msg:"discount"`
	Any      any               `json:"any" msg:"any"`
}

// line is a part of an order.
type line struct {
	Name string  `json:"name" msg:"name"`
	Cost float64 `json:"cost" msg:"cost"`
}

// renamed has other names in MessagePack than in JSON.
type renamed struct {
	Limit int  `json:"limit" msg:"lim"`
	Inner line `json:"inner" msg:"inner"`
}

// deepRenamed has them further down.
type deepRenamed struct {
	List []renamed `json:"list" msg:"list"`
}

//msgp:tuple positional

// positional is a list in MessagePack.
type positional struct {
	A int `json:"a"`
	B int `json:"b"`
}

// fast is what codecs are for.
type fast struct {
	City  string   `json:"city" msg:"city"`
	Limit int      `json:"limit" msg:"limit"`
	Deep  bool     `json:"deep" msg:"deep"`
	Tags  []string `json:"tags" msg:"tags"`
}
