// Package sample has types of tools for the tests of toolgen.
package sample

//go:generate go run github.com/turncore/turncore/host/cmd/toolgen -type Everything,Small

import (
	"encoding/json"
	"time"
)

// Small is a struct that others contain.
type Small struct {
	Name  string   `json:"name" jsonschema:"what it is called"`
	Count int      `json:"count" default:"3"`
	Tags  []string `json:"tags,omitempty"`
}

// Mode is a named text.
type Mode string

// Base is embedded.
type Base struct {
	ID uint32 `json:"id"`
}

// Everything has a field of every kind.
type Everything struct {
	Base
	Mode    Mode               `json:"mode" enum:"fast,deep"`
	On      bool               `json:"on"`
	Off     bool               `json:"off,omitempty"`
	Tiny    int8               `json:"tiny"`
	Long    int64              `json:"long,omitempty"`
	Ratio   float32            `json:"ratio"`
	Exact   float64            `json:"exact,omitzero"`
	Photo   []byte             `json:"photo"`
	At      time.Time          `json:"at"`
	Until   *time.Time         `json:"until,omitempty"`
	Raw     json.RawMessage    `json:"raw,omitempty"`
	Any     any                `json:"any,omitempty"`
	Small   Small              `json:"small"`
	Maybe   *Small             `json:"maybe,omitempty"`
	List    []Small            `json:"list"`
	Deep    [][]*int           `json:"deep,omitempty"`
	ByName  map[string]Small   `json:"byName,omitempty"`
	Numbers map[Mode][]float64 `json:"numbers,omitempty"`
	Modes   []Mode             `json:"modes,omitempty"`
	Z       string             `json:"10,omitempty"`
	Ignored chan int           `json:"-"`
}
