/** Longest text of a server in an event: an event goes to every observer, and a server may send any amount. */
const MAX_CHARACTERS = 4_096;

export function cutText(text: string, most = MAX_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

/** The order of names: by code units, which is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether a cut before this index would separate the two halves of a surrogate pair. */
export function splitsSurrogatePair(text: string, at: number): boolean {
  return isWithin(text, at - 1, 0xd800) && isWithin(text, at, 0xdc00);
}

function isWithin(text: string, at: number, first: number): boolean {
  const code = text.charCodeAt(at);
  return code >= first && code < first + 0x400;
}
