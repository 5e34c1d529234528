// Before the browser draws the page, set the theme that the user chose last. A later change would flash.
// If the user has chosen no theme, the style sheet follows the system.
try {
  const chosen = localStorage.getItem('vast-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // If storage is forbidden, the style sheet follows the system.
}
