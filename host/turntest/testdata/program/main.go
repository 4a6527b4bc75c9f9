// Command program is no test: it says whether package turntest has defined the flag -update.
package main

import (
	"flag"
	"fmt"

	"github.com/turncore/turncore/host/turntest"
)

func main() {
	fmt.Println(flag.Lookup("update") != nil, turntest.Updating())
}
