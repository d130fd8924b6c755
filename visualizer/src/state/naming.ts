/** Words or raw names: a choice that the browser keeps. */

const KEY = 'troupe-names';

export function keptNaming(): boolean {
  try {
    return localStorage.getItem(KEY) === 'raw';
  } catch {
    // A page that was opened from a disk may have no storage.
    return false;
  }
}

export function keepNaming(isRaw: boolean): void {
  try {
    localStorage.setItem(KEY, isRaw ? 'raw' : 'words');
  } catch {
    // The choice holds until the page is closed.
  }
}
