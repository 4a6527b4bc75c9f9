;; What a module has that does not say otherwise: it greets, opens runners, and answers the start of a turn with the bytes
;; "frames", whatever else it is told about the turn with the bytes "then".
(module
  (memory (export "memory") 32)
  (func (export "_initialize"))
  (func (export "turncore_abi") (result i32) (i32.const 0x20000))
  (func (export "turncore_inbox") (param $size i32) (result i32)
    (if (i32.gt_u (local.get $size) (i32.const 900000)) (then (return (i32.const 0))))
    (i32.const 0x100000))
  (func (export "turncore_step") (param $size i32) (result i64)
    (i32.store8 (i32.add (i32.const 0x100000) (local.get $size)) (i32.const 0)) ;; the mark
    (call $answer (i32.load8_u offset=1 (i32.const 0x100000))))
  (func $answer (param $op i32) (result i64)
    (if (i32.eq (local.get $op) (i32.const 1)) ;; Hello
      (then (return (call $at (i32.const 0x1000) (i32.const size:welcome)))))
    (if (i32.eq (local.get $op) (i32.const 2)) ;; OpenRunner
      (then (return (call $at (i32.const 0x1800) (i32.const size:reply)))))
    (if (i32.lt_u (local.get $op) (i32.const 5)) (then (return (i64.const 0))))
    (call $turn (local.get $op)))
  (func $turn (param $op i32) (result i64)
    (if (i32.eq (local.get $op) (i32.const 5)) ;; StartTurn
      (then (return (call $at (i32.const 0x2000) (i32.const size:frames)))))
    (call $at (i32.const 0x80000) (i32.const size:then)))
  (func $at (param $address i32) (param $size i32) (result i64)
    (i64.or (i64.shl (i64.extend_i32_u (local.get $address)) (i64.const 32)) (i64.extend_i32_u (local.get $size))))
  (data $welcome (i32.const 0x1000) (bytes welcome))
  (data $reply (i32.const 0x1800) (bytes reply))
  (data $frames (i32.const 0x2000) (bytes frames))
  (data $then (i32.const 0x80000) (bytes then)))
