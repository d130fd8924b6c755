const MAX_QUOTED = 100;

/** Text of a server for a message of Troupe: quoted, cut and without control characters. */
export function quoted(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return JSON.stringify(cut).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
}
