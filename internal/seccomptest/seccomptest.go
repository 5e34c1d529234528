// Package seccomptest runs tests in child processes in which the kernel refuses some system calls, as in
// containers and sandboxes. It is for Linux; elsewhere it is empty.
package seccomptest
