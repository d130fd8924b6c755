/** The actions of a person in a browser, as plain requests. */

/** Opens the address and consents; returns the address that the browser is redirected to. */
export async function agree(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual', headers: { connection: 'close' } });
  await response.text();
  const location = response.headers.get('location');
  if (location === null) throw new Error(`No redirect: HTTP ${response.status}.`);
  return location;
}

export interface Page {
  readonly status: number;
  readonly text: string;
  /** The address after all redirects. */
  readonly address: string;
}

/** Opens an address and follows redirects. */
export async function visit(url: string): Promise<Page> {
  const response = await fetch(url, { headers: { connection: 'close' } });
  return { status: response.status, text: await response.text(), address: response.url };
}

/** A complete sign-in with consent. */
export async function signInAt(url: string): Promise<Page> {
  return visit(await agree(url));
}
