package callees

import (
	"encoding/binary"

	"github.com/turncore/turncore/internal/wasmfile"
)

// write returns the module as it is to be.
func (m *rewriter) write() []byte {
	out := make([]byte, 0, len(m.module)+20*(m.to-m.from)+1<<10)
	out = append(out, wasmfile.Header...)
	for _, s := range m.sections {
		out = append(out, s.id)
		switch s.id {
		case wasmfile.Type:
			out = wasmfile.AppendSized(out, more(s.body, m.furtherType()))
		case wasmfile.Function:
			out = wasmfile.AppendSized(out, more(s.body, binary.AppendUvarint(nil, uint64(len(m.types)))))
		case wasmfile.Table:
			out = wasmfile.AppendSized(out, m.smallTable())
		case wasmfile.Element:
			out = wasmfile.AppendSized(out, m.fewElements())
		case wasmfile.Code:
			out = m.appendCode(out)
		default:
			out = wasmfile.AppendSized(out, s.body)
		}
	}
	return out
}

// more is a section with one entry more, behind the others.
func more(body, entry []byte) []byte {
	r := wasmfile.Reader{Rest: body}
	n := r.Uint()
	return append(append(binary.AppendUvarint(nil, uint64(n)+1), r.Rest...), entry...)
}

// furtherType is the type of the further function: what the callees take, and the place in the table.
func (m *rewriter) furtherType() []byte {
	r := wasmfile.Reader{Rest: m.types[m.called][1:]}
	parameters := r.Bytes(r.Uint())
	out := binary.AppendUvarint([]byte{wasmfile.TypeFunction}, uint64(m.parameters)+1)
	return append(append(append(out, parameters...), typeI32), r.Rest...)
}

const typeI32 = 0x7f

// stays tells whether indirect calls may find the function of an entry in the table.
func (m *rewriter) stays(function uint32) bool {
	if function == none {
		return false
	}
	if function < m.imported { // whatever its type is
		return true
	}
	return m.other[m.typeOf(function)]
}

// smallTable is the section of the table, which ends with the last entry that stays.
func (m *rewriter) smallTable() []byte {
	size := len(m.entries)
	for size > 0 && !m.stays(m.entries[size-1]) {
		size--
	}
	r := m.limits
	out := []byte{1, typeFuncRef, r.Byte()}
	r.Uint()
	return append(binary.AppendUvarint(out, uint64(size)), r.Rest...)
}

// fewElements is the section of what stays in the table.
func (m *rewriter) fewElements() []byte {
	var segments uint64
	var out []byte
	for at := 0; at < len(m.entries); at++ {
		end := at
		for end < len(m.entries) && m.stays(m.entries[end]) {
			end++
		}
		if end == at {
			continue
		}
		segments++
		out = append(wasmfile.AppendInt(append(out, 0, opI32Const), int64(at)), opEnd)
		out = binary.AppendUvarint(out, uint64(end-at))
		for _, function := range m.entries[at:end] {
			out = binary.AppendUvarint(out, uint64(function))
		}
		at = end
	}
	return append(binary.AppendUvarint(nil, segments), out...)
}

// appendCode appends the section of code. Calls keep their length, so that all but them is copied as it is.
func (m *rewriter) appendCode(out []byte) []byte {
	further := wasmfile.AppendSized(nil, m.furtherCode())
	count := binary.AppendUvarint(nil, uint64(len(m.functions))+1)
	out = binary.AppendUvarint(out, uint64(len(count)+len(m.code)+len(further)))
	out = append(out, count...)
	start := len(out)
	out = append(out, m.code...)
	for _, s := range m.sites {
		call := out[start+s.at : start+s.end]
		number := call[1:min(len(call), 1+longest)]
		call[0] = opCall
		for i := range number {
			number[i] = 0x80 | byte(m.further>>(7*i))
		}
		number[len(number)-1] &= 0x7f
		for i := 1 + len(number); i < len(call); i++ {
			call[i] = opNop
		}
	}
	return append(out, further...)
}

// furtherCode is the function that calls what is at a place in the table, or does what an indirect call does there that
// finds no function of the type.
func (m *rewriter) furtherCode() []byte {
	span := m.entries[m.from : m.to+1]
	targets := 0
	labels := make([]int, len(span))
	for i, function := range span {
		if labels[i] = -1; m.typeOf(function) == m.called {
			labels[i] = targets
			targets++
		}
	}
	out := []byte{0} // locals
	for range targets + 1 {
		out = append(out, opBlock, noResult)
	}
	out = m.pushed(out, m.parameters)
	out = append(wasmfile.AppendInt(append(out, opI32Const), int64(m.from)), opI32Sub, opBranchTable)
	out = binary.AppendUvarint(out, uint64(len(span)))
	for _, label := range labels {
		if label < 0 {
			label = targets
		}
		out = binary.AppendUvarint(out, uint64(label))
	}
	out = binary.AppendUvarint(out, uint64(targets))
	for _, function := range span {
		if m.typeOf(function) != m.called {
			continue
		}
		out = append(out, opEnd)
		for i := range m.parameters {
			out = m.pushed(out, i)
		}
		out = append(binary.AppendUvarint(append(out, opCall), uint64(function)), opReturn)
	}
	out = append(out, opEnd)
	for i := range m.parameters + 1 {
		out = m.pushed(out, i)
	}
	out = binary.AppendUvarint(append(out, opCallIndirect), uint64(m.called))
	return append(out, 0, opEnd) // of table 0
}

// pushed appends the instruction that pushes a parameter.
func (m *rewriter) pushed(out []byte, parameter uint32) []byte {
	return binary.AppendUvarint(append(out, opLocalGet), uint64(parameter))
}
