/**
 * What the effects need from the rest of the runtime. One record, supplied once by the façade.
 */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { Era } from '../../machines/policy/protocol-era.js';
import type { ConnectionEffects } from '../../machines/connection/connection.effects.js';
import type { SessionKey } from '../../machines/connection/connection.events.js';
import type { ConnectionMachine } from '../../machines/connection/connection.machine.js';
import type { CatalogCache } from '../catalog/cache.js';
import type { Catalogs } from '../catalog/catalogs.js';
import type { Extras } from '../catalog/extras.js';
import { cutText } from '../text/visible-text.js';
import type { Wire } from '../event-log/record/wire-tap.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { EffectiveSettings } from '../config/entry/effective-settings.js';
import type { ServerConfig, StdioServerConfig } from '../config/entry/server-config.js';
import type { Clock } from '../ports.js';
import type { JsonObject } from '../json/json-object.js';
import type { EraVerdicts } from '../protocol/era.js';
import type { ProtocolClient, RequestOrigin } from '../protocol/protocol-client.js';
import type { Reviews } from '../review/reviews.js';
import type { SessionPreferences } from '../requests/session-preferences.js';
import type { Mask } from '../secrets/secrets.js';
import type { ServerRequests } from '../server-requests/server-requests.js';
import type { RunPlace } from '../sessions/launch-plans.js';
import type { Sessions, Session } from '../sessions/sessions.js';
import { outputOf } from '../failures/output.js';
import { type RawFailure, TransportError } from '../failures/transport-error.js';
import type { HttpAuth } from '../transports/http/session-requests.js';
import type { CreateTransport } from '../transports/create-transport.js';
import type { NetworkSource } from '../transports/http/network-options.js';
import type { SessionTransport } from '../transports/session-transport.js';

/** The result of reading one entry. An untrusted entry was not expanded. */
export type Resolution =
  | { readonly kind: 'untrusted' }
  | {
      readonly kind: 'resolved';
      readonly hash: string;
      readonly config: ServerConfig;
      /** The folder that relative paths of the entry start from. */
      readonly folder: string;
      /** Advice for a program that starts outside of the workspace and may need it. */
      readonly elsewhere?: string | undefined;
    };

/** The configured servers. Their entries are resolved again for each attempt. */
export interface ConfiguredServers {
  /** Rejects with a `TransportError` that says what is wrong with the entry. */
  resolve(name: string): Promise<Resolution>;
  /** Whether the entry may be started. Asks the host first if it has to. Rejects as `resolve` does. */
  askForTrust(name: string): Promise<boolean>;
  /** Throws a `TransportError` if no server has that name. */
  settings(name: string): EffectiveSettings;
  /** The key under which the lists of a server are cached; undefined if they are not cached. */
  cacheKey(name: string): string | undefined;
  /** Masks the secrets of the entry as it was last resolved. */
  mask(name: string): Mask;
  /** Masks further secrets of the server from now on. */
  remember(name: string, secrets: readonly string[]): void;
}

/** Gets tokens for a server, and asks a person to sign in if that is needed. */
export interface SignInPort {
  /** The source of tokens for a new session; undefined for a server that needs no tokens from Troupe. */
  credentials(name: string, config: ServerConfig): Promise<HttpAuth | undefined>;
  /**
   * Resolves when someone has signed in. Calls `asked` when a person can: with the address, or without one if the
   * sign-in has to happen elsewhere. Rejects with a `TransportError` if nobody can sign in. Never settles for a server
   * for which Troupe holds no credentials.
   */
  signIn(name: string, asked: (url: string | undefined) => void, signal: AbortSignal): Promise<void>;
  /** Where a person can sign in to that server now. */
  url(name: string): string | undefined;
  /** Takes the address to which the browser was redirected, or the code in it. Rejects with an error of the API. */
  finish(name: string, answer: string): Promise<void>;
}

/** How a server that runs once in the fleet is to be reached now. */
export interface Placed {
  /** The entry itself, or the address at the host that runs it. */
  readonly config: ServerConfig;
  readonly place?: RunPlace;
}

/** Finds out where servers run that run once in the fleet. */
export interface OncePort {
  /** Waits until this host has the lease of the server, or knows the host that has it. Rejects with a `TransportError`. */
  place(name: string, config: StdioServerConfig, signal: AbortSignal): Promise<Placed>;
}

/** A notification of a server, as it arrived. */
export interface ServerNotice {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
  /** The origin of the request of ours that it belongs to, if that is certain. */
  readonly origin: RequestOrigin | undefined;
}

export interface EffectPorts {
  /** Changes the machine of every connection. Default: it stays as it is. */
  readonly adaptConnection?:
    ((machine: ConnectionMachine, effects: ConnectionEffects) => ConnectionMachine) | undefined;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly servers: ConfiguredServers;
  readonly catalogs: Catalogs;
  readonly extras: Extras;
  readonly wishes: SessionPreferences;
  /** Default: lists are not kept beyond the process. */
  readonly cache?: Pick<CatalogCache, 'recall' | 'keep' | 'eraOf'> | undefined;
  /** Default: no tool is held back. */
  readonly reviews?: Pick<Reviews, 'judged' | 'target' | 'whyHeld'>;
  readonly publish: (event: LifecycleEventBody) => void;
  readonly createTransport: CreateTransport;
  /** Default: remote servers are reached directly. */
  readonly network?: NetworkSource;
  /** Default: no sign-in; a server that requires one waits for other headers and a retry. */
  readonly signIns?: SignInPort | undefined;
  /** Default: there is no fleet. */
  readonly once?: OncePort | undefined;
  /** Which era each server speaks. */
  readonly eras: EraVerdicts;
  readonly createClient: (server: string, era: Era, firstId: number) => Promise<ProtocolClient>;
  /** Receives the messages of every session. Default: they are not observed. */
  readonly wire?: Pick<Wire, 'ear'>;
  /** Called with each notification of a server before Troupe acts on it. Default: not called. */
  readonly onnotification?: ((notice: ServerNotice) => void) | undefined;
  /** Answers requests of servers. Default: every request except a ping is refused. */
  readonly serverRequests?: Pick<ServerRequests, 'answer'>;
}

/** The last lines that the server wrote, for a failure that lacks them. */
export function lastLines(ports: EffectPorts) {
  return (key: SessionKey): Partial<RawFailure> => {
    const transport = ports.sessions.get(key)?.transport;
    return transport === undefined ? {} : outputOf(transport.stderrTail(), transport.stdoutTail?.() ?? []);
  };
}

/** Those lines and the address, for the failure of an attempt. */
export function attemptDetails(ports: EffectPorts) {
  const linesOf = lastLines(ports);
  return (key: SessionKey): Partial<RawFailure> => {
    const url = ports.sessions.get(key)?.transport?.url;
    return url === undefined ? linesOf(key) : { ...linesOf(key), url: ports.servers.mask(key.name)(url) };
  };
}

/** Failures of a program that may have missed a file. */
const MAY_MISS_FILES: ReadonlySet<string> = new Set(['process-exited', 'stdout-closed', 'command-not-found']);
const MISSED =
  /ENOENT|no such file|not found|cannot find|can't (?:find|open)|could not (?:find|open)|no module named|does not exist|not a (?:git|directory)|missing/i;

/** The hint of a failure, with advice if the program may have needed the files of the workspace. */
export function adviceOnFolder(ports: EffectPorts) {
  return (key: SessionKey, failure: RawFailure): string | undefined => {
    const { config, elsewhere } = ports.sessions.get(key)?.plan ?? {};
    if (elsewhere === undefined || config === undefined || !MAY_MISS_FILES.has(failure.code))
      return undefined;
    if (failure.code === 'command-not-found') return isRelativePath(config) ? elsewhere : undefined;
    const lines = [...(failure.stderrTail ?? []), ...(failure.stdoutTail ?? [])];
    return namesFiles(config) || lines.some((line) => MISSED.test(line)) ? elsewhere : undefined;
  };
}

/** Whether its command is looked for in the folder that it starts in, and not in the `PATH`. */
function isRelativePath(config: ServerConfig): boolean {
  return 'command' in config && RELATIVE.test(config.command);
}

const RELATIVE = /^(?!\/).*[/\\]/;

/** Whether its command line has a relative path. */
function namesFiles(config: ServerConfig): boolean {
  if (!('command' in config)) return false;
  const { command, args = [] } = config;
  return RELATIVE.test(command) || args.some((arg) => /^\.{1,2}(?:$|[/\\])|^[^-@/~:]*\.\w{1,5}$/.test(arg));
}

/** Publishes a diagnostic about one session. The message may hold text of the server: it is masked and cut. */
export function diagnose(ports: EffectPorts, key: SessionKey, kind: DiagnosticKind, message: string): void {
  ports.publish({
    type: 'diagnostic',
    server: key.name,
    generation: key.generation,
    kind,
    message: cutText(ports.servers.mask(key.name)(message)),
  });
}

function gone(key: SessionKey): TransportError {
  return new TransportError({
    code: 'connection-lost',
    message: `Session ${key.generation} of '${key.name}' is gone.`,
  });
}

export function requireTransport(
  ports: EffectPorts,
  key: SessionKey,
): { session: Session; transport: SessionTransport } {
  const session = ports.sessions.get(key);
  if (session?.transport === undefined) throw gone(key);
  return { session, transport: session.transport };
}

export function requireClient(
  ports: EffectPorts,
  key: SessionKey,
): { session: Session; client: ProtocolClient } {
  const session = ports.sessions.get(key);
  if (session?.client === undefined) throw gone(key);
  return { session, client: session.client };
}
