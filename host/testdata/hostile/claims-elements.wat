;; has elements that say they are 4 billion
(module binary "\00asm\01\00\00\00" "\04\04\01\70\00\01" "\09\0a\01\00\41\00\0b\ff\ff\ff\ff\0f")
