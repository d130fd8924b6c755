/** Which texts can be the name of a server. Pure, and runs in a browser. */
import { UNPRINTABLE } from './problem.js';

const MAX_NAME = 128;
/**
 * Invisible characters make different names look the same. The two joiners of letters or emoji are allowed, because
 * they change what is seen.
 */
const UNSEEN = /(?![\u200c\u200d])\p{Cf}/u;

/** Why a text cannot be the name of a server. A log may hold any name: it was not written by this program. */
export function nameProblems(name: string): readonly string[] {
  const problems: string[] = [];
  if (name === '') problems.push('the name of a server must not be empty');
  if (name.length > MAX_NAME) problems.push(`the name is longer than ${MAX_NAME} characters`);
  if (UNPRINTABLE.test(name)) problems.push('the name must not contain control characters');
  else if (UNSEEN.test(name)) problems.push('the name must not contain invisible characters');
  if (name.trim() !== name) problems.push('the name must not begin or end with a blank');
  if (name === '__proto__')
    problems.push('the server needs another name: JavaScript objects cannot hold this one');
  return problems;
}
