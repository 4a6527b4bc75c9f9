;; declares 100,000 globals
(module
  (repeat 100000 (global i64 (i64.const 0))))
