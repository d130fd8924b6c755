/** The page's requests to a runtime, apart from its stream. */
import {
  INSPECTION_PATHS,
  type CommandAnswer,
  type CommandRequest,
  type InspectedTool,
  type Refusal,
} from '../../../src/inspector/page-protocol.js';

export interface Access {
  /** Address of the page; paths of the protocol are below it. */
  readonly address: string;
  readonly token: string;
  /** Of a fleet, the host whose stream is wanted. */
  readonly host?: string;
}

/** The parts of a window that hold its key. */
export interface KeyHolder {
  readonly location: { readonly href: string; readonly hash: string; readonly protocol: string };
  readonly history: { replaceState(data: unknown, unused: string, address: string): void };
  readonly sessionStorage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
  };
}

const KEY = 'troupe.key';

/**
 * The key comes in the fragment, which is not sent to any server. It is taken out of the address, which the browser keeps in
 * its history and may synchronize, and kept for this tab, so that the page can be loaded again. What the page shows may
 * follow the key, and stays. Undefined if there is no key.
 */
export function takeAccess(window: KeyHolder): Access | undefined {
  const { href, hash, protocol } = window.location;
  // A page on the disk has no runtime.
  if (protocol !== 'http:') return undefined;
  const page = href.replace(/#.*$/, '');
  const given = keyIn(hash);
  const token = given === '' ? keptKey(window) : given;
  if (token === null) return undefined;
  const rest = hash.slice(given.length + 2);
  // If the browser stores nothing, the address is the only place for it.
  if (given !== '' && keepKey(window, token))
    window.history.replaceState(null, '', rest === '' ? page : `${page}#${rest}`);
  const host = new URL(page).searchParams.get('host');
  return { address: new URL('.', page).href, token, ...(host !== null && { host }) };
}

/** The key in a fragment; empty if there is none. It comes first, and is no `name=value`. */
export function keyIn(hash: string): string {
  const [first = ''] = hash.slice(1).split('&', 1);
  return first.includes('=') ? '' : first;
}

function keepKey(window: KeyHolder, key: string): boolean {
  try {
    window.sessionStorage.setItem(KEY, key);
    return true;
  } catch {
    return false;
  }
}

function keptKey(window: KeyHolder): string | null {
  try {
    return window.sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** The sentence in a refusal. */
export async function refusalOf(response: Response): Promise<string> {
  const { error } = ((await response.json().catch(() => ({}))) ?? {}) as Partial<Refusal>;
  return error ?? `The runtime answered ${response.status}.`;
}

export class Runtime {
  constructor(private readonly access: Access) {}

  async send(request: CommandRequest): Promise<CommandAnswer> {
    const response = await this.#fetch(INSPECTION_PATHS.command, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    return (await response.json()) as CommandAnswer;
  }

  async tools(server: string): Promise<readonly InspectedTool[]> {
    const response = await this.#fetch(`${INSPECTION_PATHS.tools}?server=${encodeURIComponent(server)}`);
    return (await response.json()) as readonly InspectedTool[];
  }

  /** Rejects if the answer is not as expected. */
  async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.access.token}`);
    const response = await fetch(new URL(`.${path}`, this.access.address), { ...init, headers });
    if (!response.ok) throw new Error(await refusalOf(response));
    return response;
  }
}
