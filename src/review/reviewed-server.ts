/** Whose tools a review is about. */
import { targetOf } from '../config/diff.js';
import { hashOf } from '../config/entry-hash.js';
import type { ServerSpec } from '../config/merge.js';
import type { ServerRow } from '../server-table.js';
import type { ReviewedServer } from './review-store.js';

/** It is asked for with every session and every list, and a row never changes. */
const known = new WeakMap<ServerRow, ReviewedServer>();

/**
 * The name, and what is started or reached by it; settings do not count. The folder counts only for an entry that was
 * found in a project: a host that is run from another folder does not begin anew. Undefined for an entry that cannot be
 * used.
 */
export function toReviewedServer(row: ServerRow | undefined): ReviewedServer | undefined {
  if (row === undefined || 'failure' in row) return undefined;
  const reviewed = known.get(row) ?? make(row);
  known.set(row, reviewed);
  return reviewed;
}

function make(row: ServerSpec): ReviewedServer {
  const { name, scope, baseDir } = row;
  const target = targetOf({ ...row, baseDir: scope === 'project' ? baseDir : '' });
  return { server: name, hash: hashOf({ name, target }) };
}
