package inspect

import "golang.org/x/sys/windows"

// errTaken is what listening at another program's address ends with.
const errTaken = windows.WSAEADDRINUSE
