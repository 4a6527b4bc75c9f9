;; greets with limits above those of its host
(module
  (data $welcome (i32.const 0x1000) (bytes welcome-too-much))
  (func $answer (param i32) (result i64) (call $at (i32.const 0x1000) (i32.const size:welcome-too-much))))
