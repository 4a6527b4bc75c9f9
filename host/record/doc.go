// Package record has the records that conversations are made of, and their encoding.
//
// A turn reads and writes messages, thoughts, tool calls, memories, retrieved documents and standing instructions. They
// are plain structs. New functions fill in what every record of a kind needs, and Validate lists what is wrong with
// one:
//
//	m := record.NewMessage("m1", record.User, "Hello", time.Now())
//	err := m.Validate()
//
// # Texts and bytes
//
// A [Tokenizable] is a text that may be rendered when it is read. [Media] and [SpooledArtifact] stand for bytes and
// texts that stay where they are, behind a [MediaReader] or [SpoolReader]; [Blob] and [FileReader] are both.
//
// # The encoding
//
// [Marshal] writes a record down for stores, and [Unmarshal] reads it: MessagePack, versioned, the same bytes as from
// the npm package. JSON has the same members: records are types of encoding/json, and of package msgp. Media and
// artifacts are written as a [Reference] to bytes of the store, which an [Opener] opens again.
//
// [Append] encodes a record as the ABI has it, and [Decode] undoes that: what readers give is not in there.
package record
