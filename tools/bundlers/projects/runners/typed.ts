/** Compiled to CommonJS: values, classes and types come with `require`. */
import assert from 'node:assert';
import { ConfigError, createTroupe, TroupeError } from 'mcp-troupe';
import type { PolicyOverrides, ServerStatus } from 'mcp-troupe';
import { DEFAULT_POLICY } from 'mcp-troupe/machines';

const error: TroupeError = new ConfigError('a mistake');
assert.ok(error instanceof ConfigError && error instanceof TroupeError);
const policy: PolicyOverrides = { maxAttempts: DEFAULT_POLICY.maxAttempts };
const rows: readonly ServerStatus[] = createTroupe({ servers: {}, policy }).status;
assert.deepEqual(rows, []);
