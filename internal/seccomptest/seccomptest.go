// Package seccomptest runs tests in processes of their own in which the kernel refuses some system calls, as container
// runtimes and sandboxes have it do. It is for Linux; elsewhere it is empty.
package seccomptest
