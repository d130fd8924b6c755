/** The commands that an actor of a troupe takes, and what each does. */
import type { EventObject } from 'xstate';
import type { TroupeOptions } from '../options.js';
import { NotFoundError } from '../errors.js';
import type { Troupe } from '../runtime/troupe.js';

/** A command to one connection. A connection that does not accept it now publishes `connection.rejected`. */
export interface ServerCommand {
  /** The command, as in `Connection.dispatch`. Each further stop skips a step of the shutdown. */
  readonly type:
    'connection.start' | 'connection.stop' | 'connection.retry' | 'connection.restart' | 'connection.refresh';
}

/** A command to all connections of a troupe. */
export type FleetCommand =
  /** Reads the configuration again, as `Troupe.reload`. */
  | {
      readonly type: 'troupe.reload';
      /** Replaces the option `servers`. Default: it stays. */
      readonly servers?: TroupeOptions['servers'];
    }
  /** The network can be used, as `Troupe.setOnline(true)`. */
  | { readonly type: 'network.online' }
  /** The network cannot be used: remote servers are not tried again. */
  | { readonly type: 'network.offline' };

/** A command to the actor of a troupe. */
export type TroupeCommand =
  | FleetCommand
  | (ServerCommand & {
      /** Name of the server. */
      readonly server: string;
    });

/** A command could not be carried out: the server does not exist, the sources cannot be reloaded, or it is no command. */
export interface CommandFailed {
  /** Name of the event. */
  readonly type: 'command.failed';
  /** The command, as it was sent. */
  readonly command: EventObject;
  /** Why. */
  readonly error: Error;
}

/** Rejects if the command cannot be carried out. A command that a connection rejects is published by the troupe. */
export async function carryOut(troupe: Troupe, command: TroupeCommand): Promise<void> {
  switch (command.type) {
    case 'connection.start':
    case 'connection.retry':
    case 'connection.restart':
    case 'connection.refresh':
      connectionOf(troupe, command.server).dispatch({ type: command.type });
      return;
    case 'connection.stop':
      connectionOf(troupe, command.server).dispatch({ type: command.type, reason: 'stop' });
      return;
    case 'troupe.reload':
      await troupe.reload(command.servers);
      return;
    case 'network.online':
      return troupe.setOnline(true);
    case 'network.offline':
      return troupe.setOnline(false);
    default: {
      const { type } = command satisfies never as EventObject;
      throw new TypeError(`'${type}' is not a command of a troupe.`);
    }
  }
}

/** Throws a `NotFoundError` if no such server is configured. */
export function connectionOf(troupe: Troupe, server: string): NonNullable<ReturnType<Troupe['connection']>> {
  const connection = troupe.connection(server);
  if (connection !== undefined) return connection;
  throw new NotFoundError(`No server '${server}' is configured.`, { server });
}
