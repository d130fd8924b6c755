/** Light or dark: what the system says, until somebody says otherwise. */

const KEY = 'troupe-theme';
const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function themeNow(): Theme {
  const kept = read();
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(themeNow()) + 1) % THEMES.length] ?? 'system';
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A page that was opened from a disk may have nowhere to keep it.
    fallback = next;
  }
  applyTheme(next);
  return next;
}

let fallback: string | null = null;

function read(): string | null {
  try {
    return localStorage.getItem(KEY) ?? fallback;
  } catch {
    return fallback;
  }
}
