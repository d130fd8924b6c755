/** A real process that writes anything to stdout and stderr and ends in any way: the session goes on or ends once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { endSessionsAfterEach, script, started } from '../../support/recorded-session.js';
import { message, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';

useLeakCheck();
useCrashWatch();
endSessionsAfterEach();

/** Twelve of these in a row are beyond the limit of a message, but not endless. */
const LONGEST_RUN = 600;

const piece: fc.Arbitrary<string> = fc
  .oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    message.map((value) => Buffer.from(`${JSON.stringify(value)}\n`)),
    text.map((value) => Buffer.from(`${value}\n`)),
    fc.nat(LONGEST_RUN).map((length) => Buffer.alloc(length, 'x')),
  )
  .map((bytes) => bytes.toString('base64'));
const pieces = fc.array(piece, { maxLength: 12 });

/** Writes the requested pieces, then its answer on its own line. */
const PARROT = `each(({ id, params: { out, err } }) => {
  for (const piece of out) process.stdout.write(Buffer.from(piece, 'base64'));
  for (const piece of err) process.stderr.write(Buffer.from(piece, 'base64'));
  process.stdout.write('\\n');
  send({ id, result: { isMine: true } });
})`;

describe('a process that writes anything', () => {
  it('still gets its answer through, and no output contains control sequences', async () => {
    const server = await started(script(PARROT), { limits: { stdioMessageBytes: 2_000 } });
    let id = 1_000;
    await fuzz(
      150,
      fc.asyncProperty(pieces, pieces, async (out, err) => {
        id += 1;
        await server.ask(id, 'write', { out, err });
        expect(server.answerTo(id)).toEqual({ jsonrpc: '2.0', id, result: { isMine: true } });
        expect(server.closes).toBe(0);
        for (const line of server.stderr.splice(0)) {
          expect(line.length).toBeLessThanOrEqual(4 * 1_024);
          expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
        }
        for (const { message: notice } of server.notices.splice(0)) {
          expect(notice.length).toBeLessThan(500);
          expect(notice).not.toMatch(/\p{Cc}/u);
        }
        server.messages.length = 0;
      }),
    );
    expect(server.errors).toEqual([]);
  });

  it('ends its session once, with the cause, if it exits while writing', () =>
    fuzz(
      12,
      fc.asyncProperty(pieces, pieces, fc.nat(255), fc.boolean(), async (out, err, code, isKilled) => {
        const end = isKilled ? `process.kill(process.pid, 'SIGKILL')` : `process.exit(${code})`;
        const server = await started(
          script(`for (const piece of ${JSON.stringify(out)}) require('node:fs').writeSync(1, Buffer.from(piece, 'base64'));
            for (const piece of ${JSON.stringify(err)}) require('node:fs').writeSync(2, Buffer.from(piece, 'base64'));
            ${end}`),
        );
        await server.untilClosed();
        expect(server.closes).toBe(1);
        expect(server.transport.ended).toMatchObject({
          code: 'process-exited',
          exit: isKilled ? { signal: 'SIGKILL' } : { code },
        });
        await server.transport.close();
        expect(server.closes).toBe(1);
      }),
    ));
});
