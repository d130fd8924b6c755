/** Reasons for targets that are not met and attempts to meet them, by target. Shown only if a target is not met. */
const EACH_SERVER =
  'Both cores are busy from the first spawn to the last list, so the processor time of the host itself decides: about 10 ' +
  'ms for each supervised connection (its chart, the checks and the review of its list, events), compared with 4 ms for ' +
  'the bare client; the spawn takes 1.5 ms in both. Rebuilding the list of tools only if a server changed saved a quarter ' +
  'of a start with 200 servers; a part of the rest is V8 compiling code that has just become hot. Starting all servers at ' +
  'once instead of a few at a time gains nothing: a client without any library needs 0.95 of the time of the bare client.';
const IMPORT_PAYS =
  "The import takes half the time of the bare client's import, which offsets the supervision of about twenty servers. " +
  'Beyond that, the cost of each server decides, as above.';

export const REASONS = {
  'cold start of 10 stdio servers, from the call':
    'Troupe loads some modules only when the first server starts (configuration, session, transport), so this loading comes ' +
    'after the call; with the bare client it comes before. This costs about 40 ms; measured from the start of the process, ' +
    'Troupe is faster. We did not load these modules with the package, because a host that does not connect yet would pay ' +
    'for them. For the rest, see the next line.',
  'cold start of 50 stdio servers, from the call': EACH_SERVER,
  'cold start of 50 stdio servers, from the start of the process': IMPORT_PAYS,
  'cold start of 200 stdio servers, from the call': EACH_SERVER,
  'cold start of 200 stdio servers, from the start of the process': IMPORT_PAYS,
  'first server usable of 50, from the call':
    'Close to the target: a single server needs about 100 ms while two or three others start beside it. Bundling ' +
    'brought the first spawn from 89 to 46 ms after the call. We did not try to start the first server alone, because all ' +
    'others would wait.',
  '`troupe.tools` with a warm cache, 50 servers, after import':
    'Down from 205 ms. The rest is code that runs for the first time: reading 50 entries (about 5 ms), reading and parsing ' +
    '50 files (2), checking 500 tools (6 to 8), building the list (2), and garbage collection (about 6). The charts are ' +
    'created only after the tools are known, hashes are computed only on demand, and the checks do less work. Synchronous ' +
    'reading of the files saved about 14 ms, but we rejected it: a file system that hangs would block the whole host. ' +
    'Skipping the checks of cached lists would save most of the rest, but a file can be damaged or come from another ' +
    'version.',
  '`kill -9` until tools are usable again, no call made':
    'The floor only starts a server. Troupe also waits until the kernel reports the end of the old one (3 to 5 ms), runs ' +
    'the chart from loss to retry in code that runs for the first time (about 4 ms), and starts a new guard before the ' +
    'server (2 to 4 ms), so that a killed host leaves nothing behind. An unchanged list is not reviewed again, and a retry ' +
    'without delay does not wait for a timer. We did not start the guard after the server, because the server would be ' +
    'unguarded for a moment.',
  'close of 50 well-behaved servers':
    'Both cores are busy all the time: 50 Node processes exit, and the host works beside them. The host needs about 55 ms ' +
    'of processor time, and the floor 12. Nearly half of it is the charts of 50 connections, each of which is drained, ' +
    'closed, confirmed gone and published; most of the rest is Node closing 150 pipes. Closing stdin at once instead of ' +
    'ending it, and one timer less for each server, saved 8 %; beginning in the same turn of the event loop gained nothing. ' +
    'Ending the inputs before the charts get the command was faster, but we rejected it: a waiting call could then be sent ' +
    'after `close()`.',
  '`callTool` in memory in the new era, one after another':
    'Between 0.25 and 0.33 in runs beside other work, which this row was taken in. The protocol client alone takes 0.06; the ' +
    'rest is one deadline, two events, the check of the arguments and the result, and the hooks of the call.',
  'heap of an idle connection of the new era, 1,000 in memory':
    'The protocol client alone meets the target (next row); the rest is supervision, and it is the same in both eras. A chart ' +
    'of XState with one state and one invoked callback takes 4.1 KiB by itself (`chart-floor.mjs`), the ten tools with ' +
    'their fingerprints and shown forms about 4.5, and the session, its watch with two timers, the handle and the status ' +
    'share the rest. Down from 26 KiB: see decision 69.',
  'heap of an idle connection, 50 stdio':
    'About 23 KiB of each is compiled code and type feedback of V8, which exist once and are divided by only 50 here; with ' +
    '1,000 connections in memory the target is met. A child process with its pipes takes about 9 KiB, and the two actors of ' +
    'every connection (its chart, and the watch over its session) take 6.5. Removing review actors, masked copies of ' +
    'definitions, empty maps and closures saved memory (from 70 to 59 KiB).',
};
