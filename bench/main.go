// Command bench compares Vast with other entity stores, work by work, in one process.
//
// README.md says what each row means and how to read it.
package main

import "os"

func main() {
	if status, asked := runOutside(os.Stdout, os.Stderr); asked {
		os.Exit(status)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
