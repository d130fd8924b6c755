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
}

/** The key is in the fragment, which is not sent to any server. Undefined if there is none. */
export function accessOf(location: { readonly href: string; readonly hash: string }): Access | undefined {
  const token = location.hash.slice(1);
  if (token === '') return undefined;
  return { address: new URL('.', location.href.replace(/#.*$/, '')).href, token };
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
