// Package peers holds programs of the example folders of other entity component systems, written with Vast.
// They are Example functions of the tests. README.md lists them.
package peers
