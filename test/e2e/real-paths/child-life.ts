/** A connection to a child process over stdio; the test controls the child over a socket. */
import { fileURLToPath } from 'node:url';
import type { TroupeOptions } from '../../../src/options.js';
import type { StdioServerConfig } from '../../../src/config/entry/server-config.js';
import { controlProgram, type ControlledProgram } from '../../../src/testing/scripted-program.js';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { SERVER } from './account.js';
import { closing, Life, QUICK } from './life.js';

const MAIN = fileURLToPath(
  new URL('../../../dist/bundle/src/testing/scripted-server-main.js', import.meta.url),
);

/** A program that follows a script, closed after the test. */
export async function controlled(script: ServerScript = {}): Promise<ControlledProgram> {
  return closing(await controlProgram(script, { main: MAIN }));
}

export class ChildLife extends Life {
  constructor(
    readonly program: ControlledProgram,
    options: TroupeOptions,
  ) {
    super(options);
  }

  static async begin(
    script: ServerScript = {},
    settings: Partial<StdioServerConfig> = {},
    options: TroupeOptions = {},
  ): Promise<ChildLife> {
    const program = await controlled(script);
    const servers = { [SERVER]: { ...program.config, policy: QUICK, ...settings } };
    return new ChildLife(program, { servers, ...options });
  }

  async send(order: Parameters<ControlledProgram['send']>[0]): Promise<void> {
    await this.within('a process that listens', this.program.whenRunning());
    await this.program.send(order);
  }
}
