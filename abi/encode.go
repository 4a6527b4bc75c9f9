package abi

// Frame is a frame of either direction: a pointer to one of this package's types that have an Op.
type Frame interface {
	Append(b []byte) []byte
	stamp()
}

// Append encodes a frame behind dst, after setting its Op. The frame escapes to the heap: to send many, keep one and
// refill it.
func Append(dst []byte, f Frame) []byte {
	f.stamp()
	return f.Append(dst)
}

func (f *Hello) stamp()       { f.Op = OpHello }
func (f *OpenRunner) stamp()  { f.Op = OpOpenRunner }
func (f *CloseRunner) stamp() { f.Op = OpCloseRunner }
func (f *History) stamp()     { f.Op = OpHistory }
func (f *DropHistory) stamp() { f.Op = OpDropHistory }
func (f *StartTurn) stamp()   { f.Op = OpStartTurn }
func (f *Call) stamp()        { f.Op = OpCall }
func (f *Edit) stamp()        { f.Op = OpEdit }
func (f *Result) stamp()      { f.Op = OpResult }
func (f *Chunk) stamp()       { f.Op = OpChunk }
func (f *Abort) stamp()       { f.Op = OpAbort }
func (f *Tick) stamp()        { f.Op = OpTick }
func (f *Welcome) stamp()     { f.Op = OpWelcome }
func (f *Reply) stamp()       { f.Op = OpReply }
func (f *Event) stamp()       { f.Op = OpEvent }
func (f *Effect) stamp()      { f.Op = OpEffect }
func (f *Cancel) stamp()      { f.Op = OpCancel }
func (f *Sync) stamp()        { f.Op = OpSync }
func (f *Timer) stamp()       { f.Op = OpTimer }
func (f *End) stamp()         { f.Op = OpEnd }
func (f *Fault) stamp()       { f.Op = OpFault }
