;; has a branch table that says it has 4 billion labels
(module binary "\00asm\01\00\00\00" "\01\04\01\60\00\00" "\03\02\01\00" "\0a\0c\01\0a\00\41\00\0e\ff\ff\ff\ff\0f\0b")
