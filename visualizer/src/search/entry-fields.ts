/** The fields of entries that a search knows. */
import type { PartFields } from './query.js';

/** Cheapest first. */
export const ENTRY_FIELDS = [
  'connection',
  'kind',
  'event',
  'entry',
  'json',
  'code',
  'state',
  'tool',
  'call',
  'session',
  'method',
  'outcome',
] as const;
export type EntryField = (typeof ENTRY_FIELDS)[number];
export const ENTRY_PARTS: PartFields = new Set(['event', 'state', 'json']);
