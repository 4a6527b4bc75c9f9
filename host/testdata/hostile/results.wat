;; has a function of 1,000 results, which it calls without end
(module
  (func $many (result (repeat 1000 i64)) unreachable)
  (func (repeat 100000 call $many) unreachable))
