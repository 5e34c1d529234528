package modeltest

import "fmt"

// PanicText returns what f panics with as text, or "".
func PanicText(f func()) (text string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			text = r.Error()
		default:
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}
