/** `troupe login`: signs in to one server in the browser, and connects to prove that it works. */
import { createInterface } from 'node:readline';
import { messageOf } from '../../text/error-message.js';
import { filter, firstValueFrom, fromEvent, map, takeUntil, throwIfEmpty } from 'rxjs';
import type { AuthorizationRequest } from '../../auth/auth-options.js';
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { Troupe } from '../../runtime/troupe.js';
import {
  readConfiguration,
  requireEnabled,
  requireFound,
  type Configuration,
} from '../configured-servers.js';
import { countOf } from '../output/duration.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { makeTroupe, withTroupe } from '../make-troupe.js';
import { wakeDormant } from '../with-servers.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { noteFailures, noteWarnings, serverAndAccount } from '../output/server-notes.js';
import { noSuchServer } from '../arguments/tool-target.js';

/**
 * `EXIT.failed` if the server is not ready in the end, or if the sign-in is not kept. Waits for the person without a
 * limit.
 */
export async function login(
  flags: Flags,
  terminal: Terminal,
  server: string,
  stdin: NodeJS.ReadableStream,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const { names } = configuration;
  if (!names.includes(server)) throw new UsageError(noSuchServer(server, names));
  requireSignIn(configuration, server);
  const only = requireEnabled(configuration, [server]);
  noteWarnings(configuration.warnings, only, terminal);
  let wasAsked = false;
  let account: string | undefined;
  const onAuthorizationUrl = ({ url, server: { account: named } }: AuthorizationRequest): void => {
    wasAsked = true;
    account = named;
    const whom = serverAndAccount(server, account);
    terminal.note(`Sign in to ${whom} in your browser:\n${oneLine(url)}\n${ELSEWHERE}`);
  };
  const auth = { onAuthorizationUrl, openBrowser: terminal.isLive(terminal.stderr) };
  const troupe = makeTroupe(flags, configuration, terminal, { maxAttempts: 1, only, auth });
  let isKept = true;
  troupe.diagnostics$.subscribe((event) => {
    if (event.kind === 'sign-in-not-stored') isKept = false;
  });
  return withTroupe(troupe, terminal, async (signal) => {
    await requireFound(troupe, [server], signal);
    const stopReading = takeAnswers(troupe, server, stdin, terminal);
    const { state, toolCount } = await wakeDormant(troupe, signal)
      .then(() => settled(troupe, server, signal))
      .finally(stopReading);
    if (state !== 'ready') {
      noteFailures(troupe.status, only, terminal);
      return EXIT.failed;
    }
    // A sign-in that ends with this process is useless to the next one. The reason was reported already.
    if (!isKept) return EXIT.failed;
    const of = { server, ...(account !== undefined && { account }) };
    if (flags.json) terminal.printJson('login', { ...of, signedIn: wasAsked, toolCount });
    else {
      const how = wasAsked ? 'signed in' : 'no sign-in was needed';
      terminal.print(`${serverAndAccount(server, account)}: ${how}, ${countOf(toolCount, 'tool')}`);
    }
    return EXIT.fine;
  });
}

const ELSEWHERE =
  'If the browser runs on another machine, it ends at an address on 127.0.0.1 or localhost that it cannot open. Paste that address here.';

/** Reads the addresses that a person pastes, until the returned function is called. */
function takeAnswers(
  troupe: Pick<Troupe, 'connection'>,
  server: string,
  stdin: NodeJS.ReadableStream,
  terminal: Terminal,
): () => void {
  const lines = createInterface({ input: stdin, terminal: false });
  lines.on('line', (line) => {
    const answer = line.trim();
    if (answer === '') return;
    troupe
      .connection(server)
      ?.finishAuth(answer)
      .catch((error: unknown) => {
        terminal.note(oneLine(messageOf(error)));
      });
  });
  return () => lines.close();
}

/** Throws if, according to its entry, the server takes no sign-in. */
function requireSignIn({ discovery }: Configuration, server: string): void {
  const config = discovery.servers.find((found) => found.server === server)?.config;
  if (config === undefined) return;
  if (!('url' in config)) throw new UsageError(`'${server}' is not a remote server and has no sign-in`);
  const headers = Object.keys(config['headers'] ?? {}).map((header) => header.toLowerCase());
  if (headers.includes('authorization')) {
    throw new UsageError(`the headers of '${server}' hold Authorization, which is used instead of a sign-in`);
  }
}

/** Resolves at the final state; waiting for the person to sign in is not final. */
function settled(troupe: Troupe, server: string, signal: AbortSignal): Promise<ServerStatus> {
  const isOver = (status: ServerStatus): boolean =>
    hasTag(status, 'settled') && !hasTag(status, 'authorizing');
  return firstValueFrom(
    troupe.status$.pipe(
      map((rows) => rows.find((row) => row.server === server)),
      filter((row) => row !== undefined),
      filter(isOver),
      takeUntil(fromEvent(signal, 'abort')),
      throwIfEmpty(() => signal.reason as Error),
    ),
  );
}
