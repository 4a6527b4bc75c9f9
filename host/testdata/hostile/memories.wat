;; declares two memories
(module
  (memory (export "memory") 1)
  (memory 1))
