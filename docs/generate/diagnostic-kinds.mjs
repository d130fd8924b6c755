/**
 * Every `kind` of a `diagnostic` event, with its severity, its meaning and what to do about it. The reference is generated from
 * this table. The type `DiagnosticKind` lists the same kinds. `publishedKinds` finds the kinds in the sources, so that a test can compare them with the table.
 *
 * - `info`: nothing is wrong.
 * - `warning`: something does not work as it should, and Troupe goes on without it.
 * - `error`: something was lost that the host counts on.
 *
 * @typedef {{ severity: 'info' | 'warning' | 'error', meaning: string, action: string }} KindOfDiagnostic
 */
import { parseSync, Visitor } from 'oxc-parser';

const REPORT_SERVER = 'Nothing for the host to do. Report it to the author of the server.';
const BUG = 'Report it to the Troupe project with a recording. If it is rare, ignore it.';

/** @type {Record<string, KindOfDiagnostic>} */
export const DIAGNOSTIC_KINDS = {
  'arguments-coerced': {
    severity: 'info',
    meaning:
      'The arguments of a call did not fit the input schema of the tool and were adapted: `null` for an optional argument was left out, or text was parsed.',
    action: 'Nothing, or set `coerceArguments` to `false` to have such arguments refused.',
  },
  'bad-message': {
    severity: 'warning',
    meaning: 'An HTTP server sent something that is not a JSON-RPC message. Troupe ignored it.',
    action: REPORT_SERVER,
  },
  'cache-problem': {
    severity: 'warning',
    meaning:
      'The store of cached catalogs failed or took longer than a second. The server is used without its cached lists.',
    action: 'Check the folder or the store of the option `cache`.',
  },
  'catalog-problem': {
    severity: 'warning',
    meaning:
      'A list of the server could not be read, contains invalid entries, or has more entries than `limits.listEntries`. Invalid entries and the ones beyond a limit are left out (`toolsLeftOut` in the status); a list that cannot be read stays as it was.',
    action:
      'Raise the option of `limits` that the message names. Otherwise report it to the authors of the server.',
  },
  'clock-jump': {
    severity: 'info',
    meaning: 'The clock has jumped, usually because the computer was asleep. Every connection is pinged.',
    action: 'Nothing.',
  },
  'config-problem': {
    severity: 'warning',
    meaning:
      'A configuration file or an entry in it has a problem. The message says where, and `problem` has its [code](errors.md#configuration-problems).',
    action: 'Correct the file. With the option `watch`, it is read again automatically.',
  },
  'config-reloaded': {
    severity: 'info',
    meaning:
      'The configuration was read again and has changed. The message says which servers were added, changed or removed.',
    action: 'Nothing.',
  },
  'confirmation-policy-failed': {
    severity: 'warning',
    meaning:
      'The option `requiresConfirmation` threw, or returned neither `true` nor `false`, for a tool. The tool counts as one that needs confirmation. Reported once for each tool.',
    action: 'Correct the function.',
  },
  'entry-outdated': {
    severity: 'warning',
    meaning:
      'The changed entry of a server does not work. The session of the previous entry continues; `outdated` in the status has the failure.',
    action: 'Correct the entry.',
  },
  'events-left-out': {
    severity: 'warning',
    meaning:
      'A server caused more events in a second than `limits.eventsPerSecond`. Those beyond were not published; the message has their number by type.',
    action: 'Raise its log level (`setLogLevel`), or the limit.',
  },
  'hook-failed': {
    severity: 'warning',
    meaning:
      'An `afterCall` of the host threw after a call that had failed. The call rejects with its own error.',
    action: 'Correct the function.',
  },
  'injection-signals': {
    severity: 'warning',
    meaning:
      'A rendered result contains text that looks like instructions to a model. `signals` lists what was found and where. The text is not changed.',
    action: 'Show it to a person, or keep the result from the model, as the host sees fit.',
  },
  'inspector-failed': {
    severity: 'warning',
    meaning: "The host's own `inspector` threw. It receives no further events.",
    action: 'Correct the inspector.',
  },
  'invalid-output': {
    severity: 'warning',
    meaning:
      "The structured content of a result does not fit the tool's output schema, or is missing. The caller gets the result unchanged.",
    action: REPORT_SERVER,
  },
  'log-level': {
    severity: 'warning',
    meaning: 'A server refused the log level that `setLogLevel` set for all servers, or did not answer.',
    action: 'Nothing, or set the level of that server alone to get the error.',
  },
  'machine-crashed': {
    severity: 'error',
    meaning:
      'An auxiliary machine crashed because of an internal error. The message says whether it is restarted.',
    action: BUG,
  },
  'message-too-large': {
    severity: 'warning',
    meaning:
      'A message of the server exceeds a limit of `limits` and was dropped. If it answers a call, that call fails with a `JsonRpcError` of code -32010; the session continues.',
    action:
      'Request less data from the tool, or raise the option that the message names, such as `limits.structuralCharacters`: for all servers in `createTroupe`, for one server in its entry.',
  },
  'no-guard': {
    severity: 'warning',
    meaning:
      'The shell script that ends the servers of a host that was killed could not be started. The servers work, but may outlive a killed host.',
    action: 'Make sure that the host is allowed to start a shell.',
  },
  'no-listening-stream': {
    severity: 'info',
    meaning:
      'A Streamable HTTP server offers no stream for messages that it initiates (MCP 2025-11-25, Transports). List changes may go unnoticed.',
    action: 'Nothing.',
  },
  'not-released': {
    severity: 'error',
    meaning:
      'A session could not be proven gone in time, for example because its process survived `SIGKILL`.',
    action: 'Look for processes that are still running, and end them.',
  },
  'not-restored': {
    severity: 'warning',
    meaning:
      'A new session did not restore a resource subscription or the log level. The next session tries again.',
    action: 'Subscribe again if the host needs it in this session.',
  },
  'observer-failed': {
    severity: 'warning',
    meaning:
      'A subscriber of an observable, or the logger, threw. Other subscribers are not affected. Reported once for each subscriber; every occurrence is logged.',
    action: 'Correct the subscriber.',
  },
  'progress-callback': {
    severity: 'warning',
    meaning: 'The `onProgress` function of a call threw or rejected. The call continues.',
    action: 'Correct the function.',
  },
  'protocol-oddity': {
    severity: 'warning',
    meaning:
      'The server sent a message that the protocol does not allow, such as a response without a request. Troupe ignored it and reports at most 20 per session.',
    action: REPORT_SERVER,
  },
  'record-failed': {
    severity: 'error',
    meaning: 'An event log could not be written. The recording has ended; the troupe continues.',
    action: 'Check the target and the space on the disk, then call `record` again.',
  },
  'redact-failed': {
    severity: 'error',
    meaning:
      'The option `redact` of the host threw, or returned something other than a text. Every text for which it fails is masked as a whole. Reported once.',
    action: 'Correct the function.',
  },
  'redirect-followed': {
    severity: 'info',
    meaning:
      'A remote server redirected requests to another address, and Troupe followed the redirect. Headers, tokens and cookies are sent to the origin of the entry only.',
    action: 'If the new address is meant to stay, put it into the entry.',
  },
  'reload-failed': {
    severity: 'error',
    meaning: 'A changed configuration could not be applied. The servers stay as they were.',
    action: 'Correct the configuration that the message names.',
  },
  'review-problem': {
    severity: 'error',
    meaning:
      'The store of accepted tools could not be read, watched or written. With `hold-changes`, the tools of the server stay held.',
    action: 'Check the file or the store that the message names.',
  },
  'schema-not-checked': {
    severity: 'warning',
    meaning: 'A schema of the tool cannot be used, so arguments or results of this tool are not checked.',
    action: REPORT_SERVER,
  },
  'server-request-failed': {
    severity: 'warning',
    meaning:
      "A handler of the host for requests of servers threw or returned no valid answer. The server received an error without the handler's message.",
    action: 'Correct the handler.',
  },
  'session-delete-failed': {
    severity: 'info',
    meaning:
      'An HTTP server did not confirm the end of a session (`DELETE`, MCP 2025-11-25, Transports, Session Management). It may keep the session for a while.',
    action: 'Nothing.',
  },
  'sign-in-failed': {
    severity: 'warning',
    meaning:
      'The answer of an authorization server to a sign-in was refused. The sign-in still waits for a valid one.',
    action: 'Sign in again.',
  },
  'sign-in-not-stored': {
    severity: 'error',
    meaning: 'A sign-in could not be written to the token store. It works until the troupe closes.',
    action: 'Check the token store that the message names.',
  },
  'spill-failed': {
    severity: 'warning',
    meaning:
      'An oversized result could not be written to a file. The model receives only the shortened text.',
    action: 'Check the folder for temporary files and the space on the disk.',
  },
  'stale-fact': {
    severity: 'info',
    meaning: 'An event about a session that has already ended was ignored.',
    action: 'Nothing. If it is frequent, report it to the Troupe project with a recording.',
  },
  'stdout-noise': {
    severity: 'warning',
    meaning:
      'The server wrote lines to stdout that are not JSON-RPC (MCP 2025-11-25, Transports, stdio). They were ignored.',
    action: 'Make the server log to stderr.',
  },
  'tool-changed': {
    severity: 'warning',
    meaning: "A tool differs from what was accepted, and `review` is `'report'`: it is still offered.",
    action: 'Have a person look at the tool, and accept it.',
  },
  'trust-store-problem': {
    severity: 'error',
    meaning:
      'The store of trusted entries could not be read, watched or written. An entry that cannot be found there counts as not trusted.',
    action: 'Check the file or the store that the message names.',
  },
  'unwanted-fact': {
    severity: 'info',
    meaning: 'An event that has no meaning in the current state was ignored.',
    action: 'Nothing. If it is frequent, report it to the Troupe project with a recording.',
  },
  'watch-problem': {
    severity: 'warning',
    meaning: 'The configuration files cannot be watched. Changes are not noticed.',
    action: 'Call `reload` after a change.',
  },
};

const PUBLISHERS = new Set(['diagnose', 'notice']);
const WORDS = /^[a-z]+(-[a-z]+)+$/;

/**
 * The kinds that a source publishes: those of objects `{ type: 'diagnostic', kind }`, of transport notices, which have only
 * `kind` and `message`, and those passed to a function that publishes diagnostics.
 *
 * @param {string} source
 * @returns {Set<string>}
 */
export function publishedKinds(source) {
  const kinds = new Set();
  const take = (node) => stringsOf(node).forEach((text) => kinds.add(text));
  new Visitor({
    ObjectExpression({ properties }) {
      const named = new Map(properties.map(({ key, value }) => [key?.name, value]));
      const isNotice = named.size === 2 && named.has('message') && WORDS.test(named.get('kind')?.value);
      if (named.get('type')?.value === 'diagnostic' || isNotice) take(named.get('kind'));
    },
    CallExpression({ callee, arguments: given }) {
      const name = (callee.property ?? callee).name;
      if (PUBLISHERS.has(name)) given.filter(({ value }) => WORDS.test(value)).forEach(take);
    },
  }).visit(parseSync('source.ts', source).program);
  return kinds;
}

function stringsOf(node) {
  if (node?.type === 'ConditionalExpression')
    return [...stringsOf(node.consequent), ...stringsOf(node.alternate)];
  return node?.type === 'Literal' && typeof node.value === 'string' ? [node.value] : [];
}
