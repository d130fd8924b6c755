/** What a person does in the browser, without one. */

/** Goes to the address and agrees; gives the address that the browser is sent to. */
export async function agree(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual', headers: { connection: 'close' } });
  await response.text();
  const location = response.headers.get('location');
  if (location === null) throw new Error(`Nobody was sent anywhere: HTTP ${response.status}.`);
  return location;
}

export interface Page {
  readonly status: number;
  readonly text: string;
  /** Where the browser is in the end. */
  readonly address: string;
}

/** Lets the browser go to an address, and on where it is sent on. */
export async function visit(url: string): Promise<Page> {
  const response = await fetch(url, { headers: { connection: 'close' } });
  return { status: response.status, text: await response.text(), address: response.url };
}

/** The whole way of somebody who agrees. */
export async function signInAt(url: string): Promise<Page> {
  return visit(await agree(url));
}
