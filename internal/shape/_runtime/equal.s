
	// The build puts this in front of the loop of memeqbody, which compares byte by byte: R2 bytes at R0 with those at R1.

	// Eight or more: the last eight, then eight at a time from the start on, while more than eight are left.
	Get R2
	I64Const $8
	I64GeU
	If
		Get R0
		Get R2
		I64Add
		I32WrapI64
		I32Const $8
		I32Sub
		I64Load $0
		Get R1
		Get R2
		I64Add
		I32WrapI64
		I32Const $8
		I32Sub
		I64Load $0
		I64Ne
		If
			I64Const $0
			Return
		End

		Loop
			Get R2
			I64Const $8
			I64LeU
			If
				I64Const $1
				Return
			End

			Get R0
			I32WrapI64
			I64Load $0
			Get R1
			I32WrapI64
			I64Load $0
			I64Ne
			If
				I64Const $0
				Return
			End

			Get R0
			I64Const $8
			I64Add
			Set R0

			Get R1
			I64Const $8
			I64Add
			Set R1

			Get R2
			I64Const $8
			I64Sub
			Set R2

			Br $0
		End
	End

	// Four to seven: the first four and the last four, which overlap.
	Get R2
	I64Const $4
	I64GeU
	If
		Get R0
		I32WrapI64
		I64Load32U $0
		Get R1
		I32WrapI64
		I64Load32U $0
		I64Eq
		I64ExtendI32U
		Get R0
		Get R2
		I64Add
		I32WrapI64
		I32Const $4
		I32Sub
		I64Load32U $0
		Get R1
		Get R2
		I64Add
		I32WrapI64
		I32Const $4
		I32Sub
		I64Load32U $0
		I64Eq
		I64ExtendI32U
		I64And
		Return
	End
