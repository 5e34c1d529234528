// Package peers holds programs that do what examples of other entity component systems do. They are written
// anew for Vast, as Example functions of the tests. README.md lists them.
package peers
