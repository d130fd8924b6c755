/** Why a target is not met and what was tried, by the words of the target. Shown where it is not met, and only there. */
const EACH_SERVER =
  'Both cores are busy from the first spawn to the last list, so what counts is the processor time of the host itself: some ' +
  '10 ms for each supervised connection (its chart, the checks and the review of its list, events) beside 4 ms of the bare ' +
  'client, of which the spawn is 1.5 ms for both. Making the list of tools anew only where a server changed took a quarter ' +
  'off a start with 200; a part of what is left is V8 compiling code that has just become hot. Starting all at once instead of ' +
  'a few at a time gains nothing: a client without any library needs 0.95 of the time of the bare client.';
const IMPORT_PAYS =
  'The import takes half of the time of that of the bare client and pays for the supervision of some twenty servers. Beyond ' +
  'that the cost of each server decides, as above.';

export const REASONS = {
  'cold start of 10 stdio servers, from the call':
    'What is loaded only when the first server is started (configuration, session, transport) comes after the call here and ' +
    'before it with the bare client, some 40 ms; from the start of the process it is the other way round. Loading it with the ' +
    'package was not done: a host that connects nothing yet would pay for it. The rest is as in the next line.',
  'cold start of 50 stdio servers, from the call': EACH_SERVER,
  'cold start of 50 stdio servers, from the start of the process': IMPORT_PAYS,
  'cold start of 200 stdio servers, from the call': EACH_SERVER,
  'cold start of 200 stdio servers, from the start of the process': IMPORT_PAYS,
  'first server usable of 50, from the call':
    'At the edge: a server alone needs some 100 ms of its own, as long as two or three others start beside it. Bundling brought ' +
    'the first spawn from 89 to 46 ms after the call. Starting the first one alone was not tried: everyone else would wait.',
  '`troupe.tools` with a warm cache, 50 servers, after import':
    'From 205 ms. What is left is code that runs for the first time: reading 50 entries (about 5 ms), reading and parsing 50 ' +
    'files (2), checking 500 tools (6 to 8), making the list (2), and collecting garbage (about 6). The charts are made only after the ' +
    'tools are known, hashes when somebody needs them, and the checks were made lighter. Reading the files without giving way ' +
    'saved some 14 ms and was given up: a file system that hangs would hold up the whole host. Not checking what an earlier run has left ' +
    'would save most of the rest, but a file can be damaged or come from another version.',
  '`kill -9` until tools are usable again, no call made':
    'The floor starts a server; this also waits until the kernel reports the end of the old one (3 to 5 ms), walks the chart from loss ' +
    'to retry in code that runs for the first time (about 4 ms), and starts a new guard before the server (2 to 4 ms), so that a host ' +
    'that is killed leaves nothing behind. An equal list is not judged again, and a retry without delay does not wait for a timer. ' +
    'Starting the guard after the server was not done: for a moment nobody would watch it.',
  'close of 50 obedient servers':
    'Both cores are busy all the time: 50 Node processes that end, and the host beside them. The host needs some 55 ms of processor ' +
    'time where the floor needs 12; nearly half is the charts of 50 connections, each of which is drained, closed, proven gone and ' +
    'told, and most of the rest is Node closing 150 pipes. Closing stdin at once instead of ending it, and one timer less for ' +
    'each server, took 8 % off; beginning in the same turn of the event loop gained nothing. Sending the ends of input before the ' +
    'charts are told did gain, and was given up: a call that waited for its server could then be sent after `close()`.',
  'heap of an idle connection, 50 stdio':
    'About 23 KiB of each is compiled code and what V8 has learned, which come into being once and are divided by only 50 here; with ' +
    '1,000 connections in memory the target is met. A child process with its pipes is about 9 KiB, and the two actors that every ' +
    'connection needs (its chart, and the watch over its session) 6.5. Review actors, masked copies of definitions, empty maps and ' +
    'closures were taken out (70 to 59 KiB).',
};
