import { stepAt, type ScriptedCall, type ScriptedStep, type SeenStep } from './agent.js';

type Body = Readonly<Record<string, unknown>>;

/** The `fetch` of a provider's client, which answers as the script says and records the requests. */
export function scriptedFetch(
  steps: readonly ScriptedStep[],
  seen: SeenStep[],
  provider: {
    readonly see: (body: Body) => SeenStep;
    readonly answer: (calls: readonly ScriptedCall[], step: number) => Body;
  },
): typeof fetch {
  return async (_url, init) => {
    init?.signal?.throwIfAborted();
    const index = seen.length;
    seen.push(provider.see(JSON.parse(init?.body as string) as Body));
    const calls = await stepAt(steps, index)();
    return Response.json(provider.answer(calls, index));
  };
}

/** Arguments as a model writes them. A string stays as it is. */
export function written(args: unknown = {}): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}
