/** Everything that Troupe and its command output about one server, except the results of calls and the list of tools. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { run } from '../../support/run-command.js';
import { discoverServers } from '../../../src/servers/discover.js';
import type { InspectionCopy } from '../../../src/inspector/inspection-copies.js';
import { INSPECTION_PATHS } from '../../../src/inspector/page-protocol.js';
import { toStately } from '../../../src/inspector/stately.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { FakeStream } from '../../support/fake-stream.js';
import { PageClient } from '../../support/page-client.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

const within = (): AbortSignal => AbortSignal.timeout(WAIT_LIMIT_MS);

export interface Output {
  readonly where: string;
  readonly text: string;
}

/** A value as text, including the causes, stacks and data of errors. */
const spelledOut = (value: unknown): string =>
  inspect(value, {
    depth: Infinity,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Infinity,
    showHidden: true,
  });

/** The output of one troupe about the server `parrot` from start to close; `use` acts as the host. */
export async function outputOfTroupe(
  config: ServerConfig,
  options: TroupeOptions,
  use: (troupe: Troupe, recordError: (error: unknown) => void) => Promise<void>,
): Promise<readonly Output[]> {
  const outputs: Output[] = [];
  const note = (where: string) => (value: unknown) => void outputs.push({ where, text: spelledOut(value) });
  const troupe = createTroupe({
    servers: {
      parrot: { ...config, startTimeoutMs: WAIT_LIMIT_MS, policy: { maxAttempts: 2, backoff: [10] } },
    },
    inspector: (copy: InspectionCopy) => void outputs.push(inspectorOutput(copy)),
    logger: { debug: note('logger'), info: note('logger'), warn: note('logger'), error: note('logger') },
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
    outputs.push({ where: 'page, tools', text: (await page.ask(INSPECTION_PATHS.tools)).body });
    await troupe.close();
    await stream.until(({ isOver }) => isOver);
    outputs.push({ where: 'page', text: JSON.stringify(stream.messages) });
    outputs.push({ where: 'page, log', text: stream.log });
  } finally {
    await troupe.close();
  }
  note('status')(troupe.status);
  return outputs;
}

/** An inspector also receives the charts; these are left out because they are long and constant. */
function inspectorOutput(copy: InspectionCopy): Output {
  const { type, ...message } = toStately(copy, 0);
  return { where: 'inspector', text: type === '@xstate.actor' ? type : JSON.stringify(message) };
}

export async function outputOfDiscovery(config: ServerConfig): Promise<readonly Output[]> {
  return [{ where: 'discovery', text: spelledOut(await discoverServers({ servers: { parrot: config } })) }];
}

/** The output of the command about the same entry in a file, which is written to `folder`. */
export async function outputOfCommand(config: ServerConfig, folder: string): Promise<readonly Output[]> {
  const file = join(folder, 'parrot.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { parrot: config } }));
  const outputs: Output[] = [];
  const lines = [
    ['config'],
    ['config', '--json'],
    ['check', '--verbose'],
    ['check', '--json', '--attempts', '1'],
  ];
  for (const words of lines) {
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    await run([...words, '--config', file, '--timeout', String(WAIT_LIMIT_MS)], {
      stdout,
      stderr,
      stdin: Readable.from([]),
      env: {},
    });
    outputs.push({ where: words.join(' '), text: `${stdout.written}\n${stderr.written}` });
  }
  return outputs;
}
