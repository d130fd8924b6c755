/** Light or dark: the system's choice, until a person chooses. Paper is light. */

const DARK = '(prefers-color-scheme: dark)';
const PRINT = 'print';
const KEY = 'troupe-theme';
const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function themeNow(): Theme {
  const kept = read();
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Colors the page from now on, and follows changes of the system. */
export function followTheme(): void {
  for (const query of [DARK, PRINT]) matchMedia(query).addEventListener('change', applyTheme);
  applyTheme();
}

function applyTheme(): void {
  const theme = themeNow();
  const wantsDark = theme === 'system' ? matchMedia(DARK).matches : theme === 'dark';
  const isDark = wantsDark && !matchMedia(PRINT).matches;
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(themeNow()) + 1) % THEMES.length] ?? 'system';
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A page that was opened from a disk may have no storage.
    fallback = next;
  }
  applyTheme();
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
