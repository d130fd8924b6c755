/** Everything that Troupe and its command tell about one server, except the results of calls and the list of tools. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { run } from '../../../src/cli/program.js';
import { discoverServers } from '../../../src/servers/discover.js';
import type { InspectionCopy } from '../../../src/inspector/inspection-copies.js';
import { INSPECTION_PATHS } from '../../../src/inspector/page-protocol.js';
import { toStately } from '../../../src/inspector/stately.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { FakeStream } from '../../support/fake-stream.js';
import { PageClient } from '../../support/page-client.js';

const LIMIT_MS = 15_000;
const within = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);

export interface Told {
  readonly where: string;
  readonly text: string;
}

/** Values with all that hangs on them: causes, stacks and data of errors included. */
const spelledOut = (value: unknown): string =>
  inspect(value, {
    depth: Infinity,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Infinity,
    showHidden: true,
  });

/** What one troupe tells of the server `parrot` from its start to its end; `use` does what a host would. */
export async function toldByTroupe(
  config: ServerConfig,
  options: TroupeOptions,
  use: (troupe: Troupe, hear: (error: unknown) => void) => Promise<void>,
): Promise<readonly Told[]> {
  const told: Told[] = [];
  const note = (where: string) => (value: unknown) => void told.push({ where, text: spelledOut(value) });
  const troupe = createTroupe({
    servers: { parrot: { ...config, startTimeoutMs: LIMIT_MS, policy: { maxAttempts: 2, backoff: [10] } } },
    inspector: (copy: InspectionCopy) => void told.push(toldToInspector(copy)),
    logger: { debug: note('logger'), warn: note('logger'), error: note('logger') },
    ...options,
  });
  try {
    const page = new PageClient((await troupe.inspect()).url);
    const stream = await page.watch();
    troupe.events$.subscribe(note('event'));
    troupe.events$.subscribe((event) => {
      throw new Error(JSON.stringify(event));
    });
    troupe.status$.subscribe(note('status'));
    note('start report')(await troupe.start({ signal: within() }));
    await use(troupe, note('error'));
    const connection = troupe.connection('parrot');
    await connection?.ready({ signal: within() }).catch(note('error'));
    await connection?.retry({ signal: within() }).catch(note('error'));
    await connection?.stop({ signal: within() }).catch(note('error'));
    await connection?.callTool('refuse', {}, { signal: within() }).catch(note('error'));
    told.push({ where: 'page, tools', text: (await page.ask(INSPECTION_PATHS.tools)).body });
    await troupe.close();
    await stream.until(({ isOver }) => isOver);
    told.push({ where: 'page', text: JSON.stringify(stream.messages) });
    told.push({ where: 'page, log', text: stream.log });
  } finally {
    await troupe.close();
  }
  note('status')(troupe.status);
  return told;
}

/** Of charts it is told as well, but they are long and the same every time. */
function toldToInspector(copy: InspectionCopy): Told {
  const { type, ...message } = toStately(copy, 0);
  return { where: 'inspector', text: type === '@xstate.actor' ? type : JSON.stringify(message) };
}

export async function toldByDiscovery(config: ServerConfig): Promise<readonly Told[]> {
  return [{ where: 'discovery', text: spelledOut(await discoverServers({ servers: { parrot: config } })) }];
}

/** What the command prints about the same entry in a file; `folder` is the test's own. */
export async function toldByCommand(config: ServerConfig, folder: string): Promise<readonly Told[]> {
  const file = join(folder, 'parrot.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { parrot: config } }));
  const told: Told[] = [];
  const lines = [
    ['config'],
    ['config', '--json'],
    ['check', '--verbose'],
    ['check', '--json', '--attempts', '1'],
  ];
  for (const words of lines) {
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    await run([...words, '--config', file, '--timeout', String(LIMIT_MS)], {
      stdout,
      stderr,
      stdin: Readable.from([]),
      env: {},
    });
    told.push({ where: words.join(' '), text: `${stdout.written}\n${stderr.written}` });
  }
  return told;
}
