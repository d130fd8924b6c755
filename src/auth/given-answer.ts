/** What somebody brings by hand as the answer to a sign-in. Pure. */

/** The parameters of the address that it is, or else the code. A host without types may bring anything. */
export function readAnswer(
  answer: unknown,
  redirectUrl: string | URL | undefined,
): URLSearchParams | { readonly code: string } {
  const text = typeof answer === 'string' || answer instanceof URL ? String(answer).trim() : '';
  if (!URL.canParse(text)) return { code: text };
  const { protocol, searchParams } = new URL(text);
  return protocolsOf(redirectUrl).includes(protocol) ? searchParams : { code: text };
}

/** An application may be come back to at a scheme of its own (RFC 8252 section 7.1). */
function protocolsOf(redirectUrl: string | URL | undefined): readonly string[] {
  const own = redirectUrl === undefined ? [] : [new URL(redirectUrl).protocol];
  return ['http:', 'https:', ...own];
}
