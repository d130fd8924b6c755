/** The scripted servers of one walk: started when an entry first needs them, given the same orders, closed together. */
import type { ServerConfig } from '../../config/entry/server-config.js';
import { controlHttpServer, type ControlledHttpServer } from '../http/control-http-server.js';
import { controlProgram, type ControlledProgram, type ScriptedProgramOptions } from '../scripted-program.js';
import { createScriptedServer, type ScriptedServer } from '../scripted-server.js';
import type { Received, ScriptedOrder, ServerScript } from '../server-script.js';
import type { Reach } from './causes.js';

export class WalkServers {
  readonly #script: ServerScript;
  readonly #program: ControlledProgram | undefined;
  readonly #remote: ControlledHttpServer | undefined;
  readonly #inProcess: ScriptedServer | undefined;
  #entries = 0;

  private constructor(
    script: ServerScript,
    program: ControlledProgram | undefined,
    remote: ControlledHttpServer | undefined,
  ) {
    this.#script = script;
    this.#program = program;
    this.#remote = remote;
    this.#inProcess =
      program === undefined && remote === undefined ? createScriptedServer(script) : undefined;
  }

  static async start(
    reaches: ReadonlySet<Reach>,
    script: ServerScript,
    options: ScriptedProgramOptions,
  ): Promise<WalkServers> {
    const isRemote = reaches.has('http') || reaches.has('sse');
    const remote = isRemote ? await controlHttpServer(script) : undefined;
    const program = reaches.has('stdio') ? await controlProgram(script, options) : undefined;
    return new WalkServers(script, program, remote);
  }

  /** An entry that differs from every former one. */
  entry(reach: Reach): ServerConfig {
    this.#entries += 1;
    const mark = String(this.#entries);
    if (this.#inProcess !== undefined)
      return { type: 'in-process', server: this.#inProcess, protocol: 'new' };
    if (reach === 'stdio' && this.#program !== undefined)
      return { ...this.#program.config, env: { WALK: mark }, protocol: 'old' };
    if (this.#remote === undefined) throw new Error('The path has no server of this kind.');
    const { config, sse } = this.#remote;
    return { ...(reach === 'sse' ? sse : config), headers: { 'x-walk': mark }, protocol: 'old' };
  }

  /** Everything that arrived at the servers, in order of arrival at each. */
  get received(): readonly Received[] {
    const inProcess = this.#inProcess?.received ?? [];
    return [...inProcess, ...(this.#program?.received ?? []), ...(this.#remote?.server.received ?? [])];
  }

  /** The servers behave as usual, except for these differences. */
  async behave({
    on,
    script,
  }: {
    readonly on?: ServerScript['on'];
    readonly script?: ServerScript;
  }): Promise<void> {
    const whole = { ...this.#script, ...script, on: { ...this.#script.on, ...on } };
    if (this.#inProcess !== undefined) this.#inProcess.script = whole;
    await this.#remote?.send({ script: whole });
    await this.#program?.send({ script: whole });
  }

  async send(order: ScriptedOrder, reach: Reach): Promise<void> {
    if (reach === 'in-process') return this.#inProcess?.obey(order);
    if (reach === 'stdio') return this.#program?.send(order);
    return this.#remote?.send(order);
  }

  async close(): Promise<void> {
    await this.#program?.close();
    await this.#remote?.close();
  }
}
