/** The hooks of docs/examples/react in real components. */
import { createElement } from 'react';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { useConnectionState, useTroupe } from '../../../docs/examples/react/use-troupe.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
const { make } = useTroupes();

beforeAll(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
});

let renders = 0;

function Fleet({ troupe }: { troupe: Troupe }): string {
  renders += 1;
  const rows = useTroupe(troupe, 'status').map(({ server, state }) => `${server} ${state}`);
  return `${rows.join(', ')}; ${useTroupe(troupe, 'tools').length} tools`;
}

function Light({ troupe }: { troupe: Troupe }): string {
  return useConnectionState(troupe.connection('a')!);
}

/** What happens while something is awaited, rendered. */
async function after(promise: Promise<unknown>): Promise<void> {
  await act(async () => void (await promise));
}

function show(component: (props: { troupe: Troupe }) => string, troupe: Troupe): ReactTestRenderer {
  let shown: ReactTestRenderer | undefined;
  act(() => {
    shown = create(createElement(component as never, { troupe }));
  });
  onTestFinished(() => {
    act(() => shown?.unmount());
  });
  return shown!;
}

it('shows the lists of a troupe, and renders only when they have changed', async () => {
  const { troupe, clock } = make({ servers: { a: inProcess(new ScriptedServer()) } });
  const shown = show(Fleet, troupe);
  expect(shown.toJSON()).toBe('; 0 tools');
  await after(troupe.settled());
  expect(shown.toJSON()).toBe('a ready; 1 tools');
  const before = renders;
  await after(troupe.callTool('mcp__a__echo'));
  expect(renders).toBe(before);
  await after(passTime(clock, troupe.connection('a')!.stop()));
  expect(shown.toJSON()).toBe('a stopped; 0 tools');
});

it('shows the state of a connection', async () => {
  const { troupe, clock } = make({ servers: { a: inProcess(new ScriptedServer()) } });
  await troupe.start();
  const shown = show(Light, troupe);
  expect(shown.toJSON()).toBe('ready');
  await after(passTime(clock, troupe.connection('a')!.stop()));
  expect(shown.toJSON()).toBe('stopped');
});
