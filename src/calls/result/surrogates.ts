/** Whether a cut before this character would part the two halves of one. */
export function partsAPair(text: string, at: number): boolean {
  return isWithin(text, at - 1, 0xd800) && isWithin(text, at, 0xdc00);
}

function isWithin(text: string, at: number, first: number): boolean {
  const code = text.charCodeAt(at);
  return code >= first && code < first + 0x400;
}
