/** The commands for recordings. */
import type { Command } from 'commander';
import { toFile, toMegabytes, toPid, toPort } from '../arguments/flags.js';
import { toMoment } from '../arguments/moment.js';
import type { InspectFlags } from '../recordings/inspect-command.js';
import type { ReplayFlags } from '../recordings/replay-command.js';
import type { ReportFlags } from '../commands/report-command.js';
import { addCommand, type Act } from './declare.js';

export function addRecordings(program: Command, act: Act): void {
  addReplay(program, act);
  addInspect(program, act);
  addReport(program, act);
}

function addReplay(program: Command, act: Act): void {
  addCommand(program, 'replay', "replay a log from 'up --record' and report what happened")
    .argument('<log...>', 'logs and reports of one or more recordings; LOG.1, LOG.2 and so on are found')
    .option('--at <moment>', 'stop at this entry number or time, or +seconds after the start', toMoment)
    .option('--server <name>', 'report on this server only')
    .option('--against <module>', 'a JavaScript module with changed machines or a policy; it is run', toFile)
    .option('--timeline', 'print every state change, of all recordings in one order')
    .option('-f, --follow', 'go on as the log grows, over restarts of its process, until Ctrl-C')
    .option('--svg <file>', 'write the timeline as an SVG file', toFile)
    .option('--export-fixture <folder>', 'write a test that reproduces the recording', toFile)
    .action(async (logs: string[], _, command: Command) => {
      const { replay } = await import('../recordings/replay-command.js');
      await act<ReplayFlags>(command, (flags, terminal) => replay(flags, terminal, logs));
    });
}

function addInspect(program: Command, act: Act): void {
  addCommand(program, 'inspect', "show a log, a running 'up --inspect' or a fleet, in the browser")
    .argument('[log...]', 'logs and reports of one or more recordings; default: the running process')
    .option('--port <port>', 'port for the page of a log or a fleet; default: any free port', toPort)
    .option('--pid <number>', "process id, if several 'up --inspect' are running", toPid)
    .option('--fleet [url]', 'show all hosts that share this engine; default: $TROUPE_FLEET')
    .option('--no-open', 'do not open a browser')
    .action(async (logs: string[], _, command: Command) => {
      const { inspect } = await import('../recordings/inspect-command.js');
      await act<InspectFlags>(command, (flags, terminal) => inspect(flags, terminal, logs));
    });
}

function addReport(program: Command, act: Act): void {
  addCommand(
    program,
    'report',
    'pack logs, versions, configuration and findings into one file, without secrets',
  )
    .argument('[log...]', 'logs; LOG.1, LOG.2 and so on are packed as well')
    .option('-o, --output <file>', 'file to write; default: troupe-report-TIME.jsonl.gz', toFile)
    .option('--force', 'replace an existing file')
    .option(
      '--max <mb>',
      'total size of the logs, before they are packed; older files are left out',
      toMegabytes,
      64,
    )
    .option('--host-names', 'keep the names of computers, and the path of your home folder')
    .option('--no-configuration', 'leave out configuration and findings')
    .action(async (logs: string[], _, command: Command) => {
      const { report } = await import('../commands/report-command.js');
      await act<ReportFlags>(command, (flags, terminal) => report(flags, terminal, logs));
    });
}
