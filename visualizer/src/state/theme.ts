/** Light or dark: the system's choice, until a person chooses. */

const KEY = 'troupe-theme';
const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function themeNow(): Theme {
  const kept = read();
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Colors the page from now on, and follows changes of the system. */
export function followTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', applyTheme);
  applyTheme();
}

function applyTheme(): void {
  const theme = themeNow();
  const isDark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
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
