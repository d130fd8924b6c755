/** Compiled to CommonJS: the types and the classes are those of an `import`. */
import assert = require('node:assert');
import troupe = require('mcp-troupe');
import machines = require('mcp-troupe/machines');
import type { ServerStatus, TroupeError } from 'mcp-troupe' with { 'resolution-mode': 'import' };

async function main(): Promise<void> {
  const imported = await import('mcp-troupe');
  assert.equal(imported.TroupeError, troupe.TroupeError);
  assert.equal(imported.createTroupe, troupe.createTroupe);
  const error: TroupeError = new troupe.ConfigError('a mistake');
  assert.ok(error instanceof imported.ConfigError && error instanceof troupe.TroupeError);
  const rows: readonly ServerStatus[] = troupe.createTroupe().status;
  assert.deepEqual(rows, []);
  const policy: troupe.PolicyOverrides = { maxAttempts: machines.DEFAULT_POLICY.maxAttempts };
  assert.ok(policy);
}

void main();
