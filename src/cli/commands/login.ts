/** `troupe login`: signs in to one server in the browser, and proves it by connecting. */
import { filter, firstValueFrom, fromEvent, map, takeUntil, throwIfEmpty } from 'rxjs';
import type { AuthorizationRequest } from '../../auth/auth-options.js';
import { isSettled } from '../../lifecycle/state-path.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { Troupe } from '../../troupe.js';
import { readConfiguration, requireEnabled, requireFound, type Configuration } from '../configuration.js';
import { countOf } from '../count-of.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { wakeDormant } from './check.js';
import { oneLine } from '../safe-text.js';
import { noteFailures, noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { noSuchServer } from '../tool-target.js';
import { UsageError } from '../usage-error.js';
import { withTroupe } from '../with-troupe.js';

/**
 * `EXIT.failed` where the server is not ready in the end, or the sign-in is not kept. Waits for the person as long as it
 * takes.
 */
export async function login(flags: Flags, terminal: Terminal, server: string): Promise<ExitCode> {
  const configuration = await readConfiguration(flags);
  const { names } = configuration;
  if (!names.includes(server)) throw new UsageError(noSuchServer(server, names));
  requireSignIn(configuration, server);
  const only = requireEnabled(configuration, [server]);
  noteWarnings(configuration.warnings, only, terminal);
  let wasAsked = false;
  const onAuthorizationUrl = ({ url }: AuthorizationRequest): void => {
    wasAsked = true;
    terminal.note(`Sign in to ${oneLine(server)} in your browser:\n${oneLine(url)}`);
  };
  const auth = { onAuthorizationUrl, openBrowser: terminal.isLive(terminal.stderr) };
  const troupe = makeTroupe(flags, configuration, terminal, { maxAttempts: 1, only, auth });
  let isKept = true;
  troupe.diagnostics$.subscribe((event) => {
    if (event.type === 'diagnostic' && event.kind === 'sign-in-not-stored') isKept = false;
  });
  return withTroupe(troupe, terminal, async (signal) => {
    await requireFound(troupe, [server], signal);
    await wakeDormant(troupe, signal);
    const { state, toolCount } = await settled(troupe, server, signal);
    if (state !== 'ready') {
      noteFailures(troupe.status, only, terminal);
      return EXIT.failed;
    }
    // A sign-in that ends with this process is of no use to the next one; why it does was told already.
    if (!isKept) return EXIT.failed;
    if (flags.json) terminal.print(JSON.stringify({ server, signedIn: wasAsked, toolCount }));
    else {
      const how = wasAsked ? 'signed in' : 'nobody had to sign in';
      terminal.print(`${oneLine(server)}: ${how}, ${countOf(toolCount, 'tool')}`);
    }
    return EXIT.fine;
  });
}

/** Throws where nobody can sign in to the server, as far as its entry tells. */
function requireSignIn({ discovery }: Configuration, server: string): void {
  const config = discovery.servers.find(({ name }) => name === server)?.config;
  if (config === undefined) return;
  if (!('url' in config)) throw new UsageError(`'${server}' is no remote server: nobody signs in to it`);
  const headers = Object.keys(config['headers'] ?? {}).map((header) => header.toLowerCase());
  if (headers.includes('authorization')) {
    throw new UsageError(
      `the headers of '${server}' hold an Authorization, which is used instead of a sign-in`,
    );
  }
}

/** Waiting for the person to sign in is not the end of it. */
function settled(troupe: Troupe, server: string, signal: AbortSignal): Promise<ServerStatus> {
  const isOver = (status: ServerStatus): boolean => isSettled(status) && status.substate !== 'authorizing';
  return firstValueFrom(
    troupe.status$.pipe(
      map((rows) => rows.find(({ name }) => name === server)),
      filter((row) => row !== undefined),
      filter(isOver),
      takeUntil(fromEvent(signal, 'abort')),
      throwIfEmpty(() => signal.reason as Error),
    ),
  );
}
