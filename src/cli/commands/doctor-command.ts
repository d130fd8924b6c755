/**
 * `troupe doctor`: examines what a server needs to work: the machine, the files with servers, and each server, which is
 * started once. Says what to do about each fault. Longer than 300 lines because it has a function for each thing it examines.
 */
import { access, constants, lstat, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, resolve } from 'node:path';
import { findSources } from '../../config/files/file-discovery.js';
import { describeProblem, errorsByServer } from '../../config/entry/problem.js';
import { PACKAGE } from '../../package.js';
import { MASK } from '../../config/entry/mask.js';
import { findProgram, variable } from '../../platform/find-program.js';
import { THIS_PLATFORM } from '../../platform/platform.js';
import { isAbsence } from '../../storage/stored-file.js';
import { userFolder, type UserFolderKind } from '../../storage/folders.js';
import { messageOf, reasonOf } from '../../text/error-message.js';
import { serverCommand } from '../../lifecycle/server-command.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { Flags } from '../arguments/flags.js';
import { serversNamed } from '../arguments/tool-target.js';
import { isMet, isSameVersion, meet } from '../background/meet.js';
import { placeOf } from '../background/place.js';
import { readConfiguration, type Configuration } from '../configured-servers.js';
import { EXIT, type ExitCode } from '../exit.js';
import { type Colors, nameOf, oneLine, type Terminal } from '../output/terminal.js';
import { countOf } from '../output/duration.js';
import { explain } from '../output/failure-report.js';
import type { Finding } from '../output/json-output.js';
import { withServers } from '../with-servers.js';
import type { CheckTarget } from './check-command.js';

/** The source of servers that are no file's. */
const OPTIONS = 'host';

type Level = Finding['level'];

/** `EXIT.failed` if something is wrong. Warnings do not count. */
export async function doctor(
  flags: Flags,
  terminal: Terminal,
  { servers, stdin }: CheckTarget,
): Promise<ExitCode> {
  const configuration = await readConfiguration(flags, { mayBeEmpty: true, mayBeUnreadable: true });
  const asked = serversNamed(servers, configuration.names);
  const enabled = asked.filter((name) => !configuration.disabled.includes(name));
  const findings: Finding[] = [...(await examineSurroundings(flags, configuration))];
  const statuses: ServerStatus[] = [];
  if (enabled.length > 0) {
    const quiet = { ...configuration, warnings: [] };
    await withServers(flags, terminal, { configuration: quiet, servers: enabled, stdin }, async (troupe) => {
      statuses.push(...troupe.status);
      return EXIT.fine;
    });
  }
  for (const name of asked) findings.push(examineServer(name, configuration, statuses));
  findings.push(...examineTwins(asked, configuration));
  const isFine = findings.every(({ level }) => level !== 'error');
  if (flags.json) terminal.printJson('doctor', { ok: isFine, findings });
  else terminal.print(render(findings, terminal.colors));
  return isFine ? EXIT.fine : EXIT.failed;
}

/** Machine and files; starts no server. */
export async function examineSurroundings(
  flags: Flags,
  configuration: Configuration,
): Promise<readonly Finding[]> {
  return [...(await examineMachine(flags)), ...(await examineSources(flags, configuration))];
}

async function examineMachine(flags: Flags): Promise<readonly Finding[]> {
  const finding = (name: string, level: Level, message: string, ...advice: string[]): Finding => ({
    about: 'machine',
    name,
    level,
    message,
    advice,
  });
  const versions = finding(
    'versions',
    'ok',
    `troupe ${PACKAGE.version}, Node.js ${process.versions.node}, ${THIS_PLATFORM.name} ${process.arch}`,
  );
  return [
    versions,
    ...(await examinePath(finding)),
    ...(await Promise.all(
      (['config', 'data', 'cache'] as const).map((kind) => examineFolder(kind, finding)),
    )),
    ...examineNetwork(finding),
    await examineBackground(flags, finding),
  ];
}

type Make = (name: string, level: Level, message: string, ...advice: string[]) => Finding;

/** The launchers that most entries use. */
const LAUNCHERS = ['node', 'npx', 'uvx', 'docker'];

async function examinePath(finding: Make): Promise<readonly Finding[]> {
  const folders = (variable('PATH', process.env) ?? '').split(delimiter).filter((folder) => folder !== '');
  const relative = folders.filter((folder) => !isAbsolute(folder));
  const found = await Promise.all(
    LAUNCHERS.map(async (name) => {
      const place = await findProgram(name, { cwd: process.cwd(), env: process.env });
      return place === undefined ? [] : [name];
    }),
  );
  const launchers = found.flat();
  const missing = LAUNCHERS.filter((name) => !launchers.includes(name));
  const parts = [
    countOf(folders.length, 'folder'),
    ...(launchers.length > 0 ? [`with ${launchers.join(', ')}`] : []),
    ...(missing.length > 0 ? [`without ${missing.join(', ')}`] : []),
    ...(relative.length > 0 ? [`relative: ${relative.map(oneLine).join(', ')}`] : []),
  ];
  const advice = [
    ...(missing.includes('node') ? ['Most servers start with node or npx: add the folder of Node.js.'] : []),
    ...(relative.length > 0
      ? ['Remove relative folders: what they lead to depends on where a program starts.']
      : []),
  ];
  const level = folders.length === 0 ? 'error' : advice.length > 0 ? 'warning' : 'ok';
  return [finding('PATH', level, parts.join('; '), ...advice)];
}

async function examineFolder(kind: UserFolderKind, finding: Make): Promise<Finding> {
  const name = `${kind} folder`;
  try {
    const folder = await userFolder(kind);
    const stats = await lstat(folder).catch((error: unknown) => {
      if (isAbsence(error)) return undefined;
      throw error;
    });
    if (stats === undefined) {
      const place = await nearest(folder);
      await access(place, constants.W_OK);
      return finding(name, 'ok', `${folder} is made when it is needed`);
    }
    await access(folder, constants.R_OK | constants.W_OK);
    const isOurs = process.getuid === undefined || (await stat(folder)).uid === process.getuid();
    return isOurs
      ? finding(name, 'ok', folder)
      : finding(name, 'warning', `${folder} belongs to another user`, `Run: chown -R "$USER" '${folder}'`);
  } catch (error) {
    return finding(
      name,
      'error',
      `cannot be used: ${oneLine(messageOf(error))}`,
      'Trust, accepted tools, sign-ins and cached lists are kept there: make it writable for yourself.',
    );
  }
}

async function nearest(folder: string): Promise<string> {
  const above = dirname(folder);
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || above === folder ? folder : nearest(above);
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

/** Names of variables, never their values: a proxy may have a password. */
function examineNetwork(finding: Make): readonly Finding[] {
  const set = [...PROXIES, ...PROXIES.map((name) => name.toLowerCase())].filter((name) => process.env[name]);
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  return [
    finding(
      'proxy',
      set.length === 0 ? 'ok' : 'note',
      set.length === 0 ? 'none' : `set by ${set.join(', ')}`,
    ),
    ...(certificates ? [finding('certificates', 'note', `also those of ${oneLine(certificates)}`)] : []),
    ...(process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
      ? [
          finding(
            'certificates',
            'warning',
            'NODE_TLS_REJECT_UNAUTHORIZED=0: no certificate is checked',
            'Unset it; name the certificate of your network in NODE_EXTRA_CA_CERTS.',
          ),
        ]
      : []),
  ];
}

/** The process of `up --background` for this configuration. */
async function examineBackground(flags: Flags, finding: Make): Promise<Finding> {
  const name = 'background';
  try {
    const found = await meet(await placeOf(flags));
    if (!isMet(found)) {
      if (found.state !== 'unusable') return finding(name, 'ok', 'no process of troupe up --background runs');
      return finding(
        name,
        'warning',
        `not used: ${oneLine(found.why)}`,
        'Commands start servers of their own until this is mended.',
      );
    }
    found.socket.destroy();
    const message = `a process runs (pid ${found.pid}, version ${found.version})`;
    return isSameVersion(found)
      ? finding(name, 'ok', message)
      : finding(
          name,
          'warning',
          `${message}, which this version does not use`,
          'Run: troupe down && troupe up --background',
        );
  } catch (error) {
    return finding(name, 'note', `not possible: ${oneLine(messageOf(error))}`);
  }
}

const NOT_FOUND = 'not found';

/** Each file that was given or looked for, with why it counts or not. */
async function examineSources(flags: Flags, configuration: Configuration): Promise<readonly Finding[]> {
  const { sources, servers, problems } = configuration.discovery;
  const finding = (name: string, level: Level, message: string, ...advice: string[]): Finding => ({
    about: 'source',
    name: oneLine(name),
    level,
    message,
    advice,
  });
  const discovers = flags.discover ?? flags.config.length === 0;
  const looked = (await findSources({ cwd: process.cwd() })).sources;
  const displayOf = (path: string): string => looked.find((each) => each.path === path)?.display ?? path;
  const given = sources.filter(({ id }) => id !== OPTIONS || flags.add.length > 0);
  const read = given.map(({ id, path, ok, message }) => {
    const name = id === OPTIONS ? '--add' : path === undefined ? id : displayOf(path);
    if (!ok) return finding(name, 'error', message ?? 'cannot be read', 'Correct the file, or remove it.');
    // A file that was given is called as it was given.
    const isThis = (source: string): boolean => [name, id].includes(source) || resolve(source) === path;
    const used = servers.filter(({ source }) => isThis(source));
    const count = id === OPTIONS ? flags.add.length : used.length;
    const unused = servers.filter(({ shadows }) => shadows.some(isThis));
    const other = unused.map(({ server, source }) => oneLine(`${server} is taken from ${source}`));
    return finding(name, 'ok', [`${countOf(count, 'server')} used`, ...other].join('; '));
  });
  const others = await Promise.all(
    looked
      .filter(({ path }) => path !== undefined && !sources.some((source) => source.path === path))
      .map(async ({ path = '', display = path }) => {
        const why = await access(path).then(
          () => (discovers ? 'has no servers' : 'not read, because of --config or --no-discover'),
          (error: unknown) => (isAbsence(error) ? NOT_FOUND : `cannot be read (${reasonOf(error)})`),
        );
        return finding(display, 'note', why);
      }),
  );
  const warnings = problems
    .filter(({ severity, server }) => severity === 'warning' && server === undefined)
    .map((problem) => finding(problem.source, 'warning', describeProblem(problem)));
  return [...read, ...others, ...warnings];
}

function examineServer(
  name: string,
  { discovery, disabled }: Configuration,
  statuses: readonly ServerStatus[],
): Finding {
  const finding = (level: Level, message: string, ...advice: string[]): Finding => ({
    about: 'server',
    name: nameOf(name),
    level,
    message,
    advice,
  });
  const errors = errorsByServer(discovery.problems).get(name) ?? [];
  if (discovery.refused.includes(name))
    return finding('error', 'its entry cannot be used', ...errors.map(describeProblem));
  if (disabled.includes(name))
    return finding('note', 'is disabled', `To start it: ${serverCommand('enable', name)}`);
  const status = statuses.find(({ server }) => server === name);
  if (status === undefined) return finding('error', 'was not found when the configuration was read again');
  if (status.state === 'ready') {
    const { serverInfo, protocolVersion, toolCount, resourceCount, promptCount, toolsLeftOut } = status;
    const who = serverInfo === null ? 'an unnamed server' : `${serverInfo.name} ${serverInfo.version}`;
    const lists = [
      countOf(toolCount, 'tool'),
      countOf(resourceCount, 'resource'),
      countOf(promptCount, 'prompt'),
    ].join(', ');
    const message = oneLine(
      `runs (${who}), speaks MCP ${protocolVersion ?? 'of an unknown version'}, lists ${lists}`,
    );
    return toolsLeftOut.length === 0
      ? finding('ok', message)
      : finding(
          'warning',
          `${message}; ${countOf(toolsLeftOut.length, 'tool')} cannot be offered`,
          ...toolsLeftOut.slice(0, 3).map(({ tool, why }) => oneLine(`${tool ?? 'A list'}: ${why}`)),
        );
  }
  const [summary = '', ...details] = explain(status);
  return finding('error', summary, ...details);
}

/** Servers with the same entry: a model sees each of their tools twice. Masked entries may differ in their secrets. */
function examineTwins(asked: readonly string[], { discovery }: Configuration): readonly Finding[] {
  const enabled = discovery.servers.filter((server) => server.enabled);
  const entries = enabled.map(({ config }) => JSON.stringify(config));
  return enabled.flatMap(({ server }, index): Finding[] => {
    const entry = entries[index] ?? '';
    const first = enabled[entries.indexOf(entry)]?.server ?? server;
    if (first === server || entry.includes(MASK) || !asked.includes(server)) return [];
    const message = `has the same entry as ${nameOf(first)}, so a model sees each of their tools twice`;
    return [{ about: 'server', name: nameOf(server), level: 'warning', message, advice: [] }];
  });
}

const TITLES = { machine: 'Machine', source: 'Files', server: 'Servers' } as const;

function render(findings: readonly Finding[], colors: Colors): string {
  const marks: Readonly<Record<Level, string>> = {
    ok: colors.green('✓'),
    note: colors.dim('-'),
    warning: colors.yellow('!'),
    error: colors.red('✗'),
  };
  const groups = (['machine', 'source', 'server'] as const).flatMap((about) => {
    const all = findings.filter((each) => each.about === about);
    const absent = all.filter(({ message }) => message === NOT_FOUND).map(({ name }) => name);
    const own = all.filter(({ message }) => message !== NOT_FOUND);
    if (all.length === 0) return [];
    return [
      colors.bold(TITLES[about]),
      ...own.flatMap(({ name, level, message, advice }) => [
        `  ${marks[level]} ${name}: ${message}`,
        ...advice.map((line) => `      ${line}`),
      ]),
      ...(absent.length > 0 ? [`  ${marks.note} ${NOT_FOUND}: ${absent.join(', ')}`] : []),
      '',
    ];
  });
  const count = (level: Level): number => findings.filter((each) => each.level === level).length;
  const verdict =
    count('error') === 0
      ? colors.green(count('warning') === 0 ? 'Nothing is wrong.' : countOf(count('warning'), 'warning'))
      : colors.red(`${countOf(count('error'), 'fault')}, ${countOf(count('warning'), 'warning')}`);
  return [...groups, verdict].join('\n');
}
