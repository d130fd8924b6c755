/** A troupe whose only server is `a`, for tests of a single connection. */
import type { Connection } from '../../src/servers/connection.js';
import type { ServerSettings } from '../../src/config/entry/server-config.js';
import type { TroupeOptions } from '../../src/options.js';
import { fake, type FakeServer } from './fake-server.js';
import { library, type Library } from './library-server.js';
import { ScriptedServer, type Script } from './scripted-server.js';
import { inProcess, passTime, useTroupes, type TestTroupe } from './test-troupe.js';

export interface OneServer extends TestTroupe {
  readonly server: ScriptedServer;
  readonly a: Connection;
}

export interface OneServerDefaults {
  readonly script?: Script;
  readonly settings?: ServerSettings;
}

type Begin<Given> = (given?: Given, settings?: ServerSettings, options?: TroupeOptions) => Promise<OneServer>;

/** Returns a function that resolves with the started troupe. */
export function useOneServer(defaults: OneServerDefaults = {}): Begin<Script> {
  const { make } = useTroupes();
  return async (script = defaults.script, settings = defaults.settings, options = {}) => {
    const server = new ScriptedServer(script);
    const test = make({ servers: { a: inProcess(server, settings) }, ...options });
    await test.troupe.start();
    return { ...test, server, a: test.troupe.connection('a')! };
  };
}

/** The server has resources and prompts; the function resolves once they are listed, too. */
export function useOneLibrary(defaults: Library = {}): Begin<Library> {
  const { make } = useTroupes();
  return async (shelf = defaults, settings, options = {}) => {
    const server = new ScriptedServer(library(shelf));
    const test = make({ servers: { a: inProcess(server, settings) }, ...options });
    await passTime(test.clock, test.troupe.settled());
    return { ...test, server, a: test.troupe.connection('a')! };
  };
}

/** `make` does not start the troupe; `begin` resolves once it has started. */
export function useOneFake(options: TroupeOptions = {}): {
  make(server: FakeServer, settings?: ServerSettings): TestTroupe;
  begin(server: FakeServer, settings?: ServerSettings): Promise<TestTroupe>;
} {
  const troupes = useTroupes();
  const make = (server: FakeServer, settings?: ServerSettings): TestTroupe =>
    troupes.make({ servers: { a: fake(server, settings) }, ...options });
  return {
    make,
    begin: async (server, settings) => {
      const test = make(server, settings);
      await passTime(test.clock, test.troupe.start());
      return test;
    },
  };
}
