;; has a section that says it is of 4 GB
(module binary "\00asm\01\00\00\00" "\0a\ff\ff\ff\ff\0f\00")
