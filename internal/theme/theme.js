// Set the theme that the user chose last, before the browser draws the page. Otherwise the page could first
// appear in the other theme. If there is no choice, the style sheet follows the system.
try {
  const chosen = localStorage.getItem('vast-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is forbidden.
}
