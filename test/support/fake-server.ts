/** The `server` of an in-process entry whose transports a test creates. Troupes from `makeTroupe` can reach it. */
import type { ServerConfig, ServerSettings } from '../../src/config/entry/server-config.js';
import { FakeTransport, type FakeTransportOptions } from './fake-transport.js';
import { ScriptedServer, type Script } from './scripted-server.js';

type Make = (session: number) => FakeTransportOptions;

/** Every fake server, by its command. */
const byCommand = new Map<string, FakeServer>();

export class FakeServer {
  /** The command that names it in a stdio entry. */
  readonly command = `fake-server-${byCommand.size + 1}`;
  readonly transports: FakeTransport[] = [];
  /** The server that answers behind the transports. */
  readonly peer: ScriptedServer;
  /** Runs before a transport is created, when a real one would be imported. */
  beforeCreate: () => Promise<void> = async () => {};
  readonly #make: Make;

  constructor(make: Make = () => ({}), script: Script = {}) {
    this.#make = make;
    this.peer = new ScriptedServer(script);
    byCommand.set(this.command, this);
  }

  /** The current transport. */
  get transport(): FakeTransport {
    const transport = this.transports.at(-1);
    if (transport === undefined) throw new Error('No transport has been created yet.');
    return transport;
  }

  connect(): Promise<void> {
    return Promise.reject(new Error('Only troupes from `makeTroupe` can reach a fake server.'));
  }

  async createTransport(): Promise<FakeTransport> {
    await this.beforeCreate();
    const transport = new FakeTransport({ peer: this.peer, ...this.#make(this.transports.length + 1) });
    this.transports.push(transport);
    return transport;
  }
}

function serverOf(config: ServerConfig): unknown {
  if ('command' in config) return byCommand.get(config.command);
  return 'url' in config ? byCommand.get(new URL(config.url).pathname.slice(1)) : config.server;
}

/** The entry of a fake server. */
export function fake(server: FakeServer, settings: ServerSettings = {}): ServerConfig {
  return { type: 'in-process', server, ...settings };
}

/** The entry of a fake server that looks like a program and therefore needs a start slot. */
export function fakeProgram({ command }: FakeServer, settings: ServerSettings = {}): ServerConfig {
  return { command, ...settings };
}

/** The entry of a fake server that looks like a remote server. */
export function fakeRemote({ command }: FakeServer, settings: ServerSettings = {}): ServerConfig {
  return { type: 'http', url: `http://fake.example/${command}`, ...settings };
}

/** The fake server of an entry. */
export function fakeServerOf(config: ServerConfig): FakeServer | undefined {
  const server = serverOf(config);
  return server instanceof FakeServer ? server : undefined;
}

/** Replaces the module that creates transports in tests that use only fake servers. */
export const fakeTransports = {
  async createTransport(config: ServerConfig): Promise<FakeTransport> {
    const server = fakeServerOf(config);
    if (server !== undefined) return server.createTransport();
    throw new Error('This test can reach only fake servers.');
  },
};
