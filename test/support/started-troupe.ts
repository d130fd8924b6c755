/** A started troupe with one scripted server, `box`, on the system clock; closed after the test. */
import { onTestFinished } from 'vitest';
import type { TroupeOptions } from '../../src/options.js';
import { createTroupe, type Troupe } from '../../src/runtime/troupe.js';
import { ScriptedServer, type Script } from './scripted-server.js';
import { inProcess } from './test-troupe.js';
import { WAIT_LIMIT_MS } from './time-limit.js';

export interface World {
  readonly server: ScriptedServer;
  readonly troupe: Troupe;
}

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+j8l8AAAAASUVORK5CYII=';
export const JPEG = '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8U';
export const PDF = Buffer.from('%PDF-1.7\n%%EOF\n').toString('base64');

export async function makeWorld(script: Script = {}, options: TroupeOptions = {}): Promise<World> {
  const server = new ScriptedServer(script);
  const troupe = createTroupe({ servers: { box: inProcess(server) }, ...options });
  onTestFinished(() => troupe.close());
  await troupe.start({ signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  return { server, troupe };
}
