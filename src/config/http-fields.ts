/**
 * What may stand in the address and the headers of a server. Pure; what they answer holds nothing of the value.
 */

/** Why an address cannot be used, or undefined. Only http and https, and no credentials (`fetch` refuses them). */
export function urlProblem(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) return 'is not a complete address such as https://example.com/mcp';
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return 'must begin with http:// or https://';
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return "must not hold a user name or password; use 'headers' with Authorization";
  }
  return undefined;
}

/** Why a text cannot be the value of a header (RFC 9110 section 5.5), or undefined. */
export function headerValueProblem(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'must not contain a line break';
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) return 'contains a character that a header cannot carry';
  return undefined;
}
