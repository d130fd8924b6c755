/** The `server` of an in-process entry whose transports a test makes: what `makeTroupe` makes can reach it. */
import type { ServerConfig, ServerSettings } from '../../src/config/entry/server-config.js';
import { FakeTransport, type FakeTransportOptions } from './fake-transport.js';
import { ScriptedServer, type Script } from './scripted-server.js';

type Make = (session: number) => FakeTransportOptions;

/** Every fake server by the command it stands for. */
const byCommand = new Map<string, FakeServer>();

export class FakeServer {
  /** As a stdio entry would name it. */
  readonly command = `fake-server-${byCommand.size + 1}`;
  readonly transports: FakeTransport[] = [];
  /** What answers behind the transports. */
  readonly peer: ScriptedServer;
  /** Runs before a transport is made, as the import of its module would. */
  beforeCreate: () => Promise<void> = async () => {};
  readonly #make: Make;

  constructor(make: Make = () => ({}), script: Script = {}) {
    this.#make = make;
    this.peer = new ScriptedServer(script);
    byCommand.set(this.command, this);
  }

  /** The present transport. */
  get transport(): FakeTransport {
    const transport = this.transports.at(-1);
    if (transport === undefined) throw new Error('No transport was made yet.');
    return transport;
  }

  connect(): Promise<void> {
    return Promise.reject(new Error('A fake server is reached by what `makeTroupe` makes.'));
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

/** The entry of a fake server that seems to be a program, and so needs a start slot. */
export function fakeProgram({ command }: FakeServer, settings: ServerSettings = {}): ServerConfig {
  return { command, ...settings };
}

/** The entry of a fake server that seems to be reached over the network. */
export function fakeRemote({ command }: FakeServer, settings: ServerSettings = {}): ServerConfig {
  return { type: 'http', url: `http://fake.example/${command}`, ...settings };
}

/** The fake server that an entry names. */
export function fakeServerOf(config: ServerConfig): FakeServer | undefined {
  const server = serverOf(config);
  return server instanceof FakeServer ? server : undefined;
}

/** Stands in for the module that makes transports, where only fake servers are reached. */
export const fakeTransports = {
  async createTransport(config: ServerConfig): Promise<FakeTransport> {
    const server = fakeServerOf(config);
    if (server !== undefined) return server.createTransport();
    throw new Error('Only fake servers can be reached in this test.');
  },
};
