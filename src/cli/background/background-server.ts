/**
 * The background process, as far as callers see it: it listens at the address of its configuration and runs their commands
 * on its troupe. `background.machine.ts` has its life.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { createActor, fromPromise, toPromise, waitFor, type ActorRefFrom } from 'xstate';
import { PACKAGE } from '../../package.js';
import { THIS_PLATFORM } from '../../platform/platform.js';
import { systemClock, type Clock } from '../../ports.js';
import { makeFolder } from '../../storage/folders.js';
import { withLock } from '../../storage/lock-file.js';
import { EXIT } from '../exit.js';
import { Declined, type Run, type RunningTroupe } from '../host.js';
import { backgroundMachine, type BackgroundInput, type Claim } from './background.machine.js';
import { claimable } from './meet.js';
import {
  messagesOf,
  send,
  sendOutput,
  type FromCaller,
  type RunRequest,
  type StreamFacts,
} from './relay-messages.js';
import { whyNotPrivate, type Place } from './place.js';

export interface BackgroundParts extends BackgroundInput, Pick<RunningTroupe, 'troupe' | 'toolChanges'> {
  readonly place: Place;
  /** What differs from one command to the next. */
  readonly forCommand: (request: RunRequest) => Pick<RunningTroupe, 'prepare' | 'admit'>;
  readonly run: Run;
  readonly clock?: Clock;
}

type Actor = ActorRefFrom<typeof backgroundMachine>;

/** A caller that does not read: what it would be sent is kept up to here. */
const MOST_UNREAD_BYTES = 256 * 1_024 * 1_024;

export class BackgroundServer {
  readonly actor: Actor;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #ending = new AbortController();
  readonly #closing = new AbortController();

  constructor(private readonly parts: BackgroundParts) {
    const { clock = systemClock, idleMs, graceMs } = parts;
    this.#server = createServer((socket) => void this.#meet(socket));
    let claimed: Promise<Claim> = Promise.resolve(undefined);
    const claim = fromPromise<Claim>(({ signal }) => (claimed = this.#claim(signal, clock)));
    const close = fromPromise<void>(async () => {
      this.#closing.abort();
      await parts.troupe.close();
      await claimed.catch(() => {});
      await this.#leave();
    });
    this.actor = createActor(backgroundMachine.provide({ actors: { claim, close } }), {
      input: { idleMs, graceMs },
      clock,
    });
    this.actor.subscribe((snapshot) => {
      if (!snapshot.hasTag('claiming') && !snapshot.hasTag('accepting')) this.#ending.abort();
    });
    this.actor.start();
  }

  /** Resolves when it serves, or has ended before. */
  async claimed(): Promise<void> {
    await waitFor(this.actor, (snapshot) => !snapshot.hasTag('claiming'), { timeout: Infinity });
  }

  /** Resolves when it has ended. */
  async ended(): Promise<void> {
    await toPromise(this.actor);
  }

  async #claim(signal: AbortSignal, clock: Clock): Promise<Claim> {
    const { place } = this.parts;
    makeFolder(place.folder);
    const why = whyNotPrivate(place.folder);
    if (why !== undefined) throw new Error(why);
    return withLock(place.lock, () => this.#listen(), { clock, signal });
  }

  async #listen(): Promise<Claim> {
    const { place } = this.parts;
    const owner = await claimable(place);
    owner?.socket.destroy();
    if (owner !== undefined) return owner.pid;
    this.#server.listen(place.address);
    await once(this.#server, 'listening');
    if (THIS_PLATFORM.hasFileModes) chmodSync(place.address, 0o600);
    return undefined;
  }

  async #leave(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await rm(this.parts.place.address, { force: true }).catch(() => {});
    for (const socket of this.#sockets) socket.end(() => socket.destroy());
    await closed;
  }

  async #meet(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket)).on('error', () => {});
    send(socket, { version: PACKAGE.version, pid: process.pid });
    try {
      const messages = messagesOf<FromCaller>(socket);
      const { value: first } = await messages.next();
      if (first?.type === 'run') await this.#runFor(socket, first.request, messages);
      if (first?.type === 'stop') await this.#stopFor(socket);
    } catch {
      socket.destroy();
    }
  }

  async #stopFor(socket: Socket): Promise<void> {
    const closed = toPromise(this.actor);
    this.actor.send({ type: 'stop' });
    await Promise.race([closed, once(socket, 'close')]);
  }

  async #runFor(
    socket: Socket,
    request: RunRequest,
    messages: AsyncGenerator<FromCaller, undefined, undefined>,
  ): Promise<void> {
    if (!this.actor.getSnapshot().hasTag('accepting'))
      return send(socket, { type: 'declined', why: 'it is about to end' });
    this.actor.send({ type: 'command.began' });
    const interruption = new AbortController();
    const stdout = relayedOutput('stdout', socket, request.stdout);
    const stderr = relayedOutput('stderr', socket, request.stderr);
    const stdin = new Readable({ read: () => {} });
    let isWanted = false;
    stdin._read = () => {
      if (!isWanted) send(socket, { type: 'stdin-wanted' });
      isWanted = true;
    };
    const { troupe, toolChanges, forCommand, run } = this.parts;
    const running: RunningTroupe = {
      troupe,
      toolChanges,
      signal: AbortSignal.any([interruption.signal, this.#closing.signal]),
      ending: this.#ending.signal,
      ...forCommand(request),
    };
    void this.#hear(messages, (message) => {
      if (message?.type === 'stdin')
        stdin.push(message.data === null ? null : Buffer.from(message.data, 'base64'));
      else if (message?.type === 'interrupt') interruption.abort();
      else stdout.destroy(new Error('nobody reads'));
    });
    try {
      const code = await run(request.args, { stdin, stdout, stderr, env: request.env, running });
      send(socket, { type: 'exit', code });
    } catch (error) {
      if (error instanceof Declined) send(socket, { type: 'declined', why: error.message });
      else send(socket, { type: 'exit', code: EXIT.failed });
    } finally {
      this.actor.send({ type: 'command.ended' });
      socket.end();
    }
  }

  /** `undefined` says that the caller is gone. */
  async #hear(
    messages: AsyncGenerator<FromCaller, undefined, undefined>,
    take: (message: FromCaller | undefined) => void,
  ): Promise<void> {
    try {
      for await (const message of messages) take(message);
    } catch {
      // The connection was lost.
    }
    take(undefined);
  }
}

/** A stream of the caller. */
function relayedOutput(
  name: 'stdout' | 'stderr',
  socket: Socket,
  facts: StreamFacts,
): Writable & StreamFacts {
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      sendOutput(socket, name, chunk);
      if (socket.writableLength > MOST_UNREAD_BYTES) socket.destroy();
      done();
    },
  });
  return Object.assign(stream, facts);
}
