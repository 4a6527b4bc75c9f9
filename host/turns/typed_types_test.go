package turns_test

//go:generate go tool -modfile=../../.ci/tools/go.mod msgp -file typed_types_test.go -o typed_types_msgp_test.go -tests=false -unexported -io=false

// forecast has a codec of its own.
type forecast struct {
	City    string  `json:"city" msg:"city"`
	Celsius float64 `json:"celsius" msg:"celsius"`
	Rain    bool    `json:"rain" msg:"rain"`
}

// mismatched has other names in MessagePack than in JSON.
type mismatched struct {
	Limit int `json:"limit" msg:"lim"`
}
