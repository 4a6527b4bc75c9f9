;; has a branch table of 100,000 labels
(module
  (func (block (br_table (repeat 100001 0) (i32.const 0)))))
