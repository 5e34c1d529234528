// Package theme holds the styles that the inspector's page and the documentation's site share.
package theme

import "embed"

// Files holds base.css, the style sheet, and theme.js, which sets the theme that the user chose last.
//
//go:embed base.css theme.js
var Files embed.FS
