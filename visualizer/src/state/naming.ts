/** Words or raw names: a choice that the browser keeps. */
import type { PageState } from './page.js';

const KEY = 'troupe-names';

/** Whether raw names were chosen last. */
export function keptNaming(): boolean {
  try {
    return localStorage.getItem(KEY) === 'raw';
  } catch {
    // A page that was opened from a disk may have no storage.
    return false;
  }
}

export function switchNaming(state: PageState): void {
  const isRaw = !state.page.isRaw;
  state.change({ isRaw });
  try {
    localStorage.setItem(KEY, isRaw ? 'raw' : 'words');
  } catch {
    // The choice holds until the page is closed.
  }
}
