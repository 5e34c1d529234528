// The theme that was chosen last, set before anything is drawn: so the page does not flash. Without a choice the
// style sheet follows the system.
try {
  const chosen = localStorage.getItem('vast-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be forbidden; then the system's theme it is.
}
