;; declares 4 GiB of memory
(module
  (memory (export "memory") 65536 65536))
