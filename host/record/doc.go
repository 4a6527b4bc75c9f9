// Package record has the records that conversations are made of, and their encoding.
//
// A turn reads and writes messages, thoughts, tool calls, memories, retrieved documents and standing instructions. They
// are plain structs. New functions fill in what every record of a kind needs, and Validate lists what is wrong with one:
//
//	m := record.NewMessage("m1", record.User, "Hello", time.Now())
//	err := m.Validate()
//
// # Texts and bytes
//
// A [Tokenizable] is a text that may be rendered when it is read. [Media] and [SpooledArtifact] stand for bytes and texts
// that stay where they are, behind a [MediaReader] or [SpoolReader]; [Blob] and [FileReader] are both.
//
// # The encoding
//
// [Append] encodes a record as the ABI has it, and [Decode] undoes that, for stores that keep records as bytes.
package record
