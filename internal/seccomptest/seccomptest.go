// Package seccomptest runs tests in child processes in which the kernel refuses some system calls, as in
// containers and sandboxes. On systems other than Linux, the package is empty.
package seccomptest
