// Before anything is drawn, set the theme that the user chose last, so that the page does not flash. Without
// a choice, the style sheet follows the system.
try {
  const chosen = localStorage.getItem('vast-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // If storage is forbidden, the style sheet follows the system.
}
