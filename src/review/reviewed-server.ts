/** Whose tools a review is about. */
import { targetOf } from '../config/diff.js';
import { hashOf } from '../config/entry-hash.js';
import type { ServerRow } from '../server-table.js';
import type { ReviewedServer } from './review-store.js';

/**
 * The name, and what is started or reached by it; settings do not count. The folder counts only for an entry that was
 * found in a project: a host that is run from another folder does not begin anew. Undefined for an entry that cannot be
 * used.
 */
export function toReviewedServer(row: ServerRow | undefined): ReviewedServer | undefined {
  if (row === undefined || 'failure' in row) return undefined;
  const { name, scope, baseDir } = row;
  const target = targetOf({ ...row, baseDir: scope === 'project' ? baseDir : '' });
  return { server: name, hash: hashOf({ name, target }) };
}
