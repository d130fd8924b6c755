/** The language of the page's searches. */
import { describe, expect, it } from 'vitest';
import {
  fitting,
  parseQuery,
  termOf,
  withField,
  type Subject,
} from '../../../../visualizer/src/search/query.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const FIELDS = ['connection', 'code', 'state'];
const PARTS = new Set(['state']);

/** What a text finds in a thing with that row and these fields. */
function finds(text: string, row: string, fields: Readonly<Record<string, readonly string[]>> = {}): boolean {
  const subject: Subject = {
    shows: (word) => row.toLowerCase().includes(word),
    valuesOf: (field) => fields[field] ?? [],
  };
  return fitting(parseQuery(text, FIELDS), FIELDS, PARTS)(subject);
}

describe('a query', () => {
  it('finds what has every word, in any order and case.', () => {
    expect(finds('AFTER answered', 'read: answered after 60 ms')).toBe(true);
    expect(finds('answered never', 'read: answered after 60 ms')).toBe(false);
    expect(finds('"after answered"', 'read: answered after 60 ms')).toBe(false);
    expect(finds('"answered after"', 'read: answered after 60 ms')).toBe(true);
    expect(finds('  ', 'anything')).toBe(true);
  });

  it('finds by fields: whole values, parts of a state, and any text for a star.', () => {
    const fields = { connection: ['files'], code: ['process-exited'], state: ['reconnecting.backingOff'] };
    expect(finds('connection:files code:process-exited', '', fields)).toBe(true);
    expect(finds('connection:file', '', fields)).toBe(false);
    expect(finds('connection:FILES', '', fields)).toBe(true);
    expect(finds('code:process-*', '', fields)).toBe(true);
    expect(finds('code:process.*', '', fields)).toBe(false);
    expect(finds('state:backing', '', fields)).toBe(true);
    expect(finds('connection:git connection:files', '', fields)).toBe(true);
    expect(finds('code:any', 'any')).toBe(false);
  });

  it('leaves out what has a minus.', () => {
    expect(finds('-wire', 'wire sent')).toBe(false);
    expect(finds('-connection:files', '', { connection: ['git'] })).toBe(true);
    expect(finds('-connection:files', '', { connection: ['files'] })).toBe(false);
  });

  it('reports an unknown field with the one that was meant, and searches its text.', () => {
    const { problems, terms } = parseQuery('conection:files conn:x colour:red', FIELDS);
    expect(problems).toEqual([
      { field: 'conection', meant: 'connection' },
      { field: 'conn', meant: 'connection' },
      { field: 'colour', meant: undefined },
    ]);
    expect(terms.map(({ value }) => value)).toEqual(['conection:files', 'conn:x', 'colour:red']);
    const [first] = problems;
    if (first === undefined) throw new Error('There is no problem.');
    expect(withField('conection:files', first)).toBe('connection:files');
  });

  it('takes everything else as words, and what is not typed to its end as nothing.', () => {
    for (const text of ['http://127.0.0.1:80', '12:30:07', '$/files#1', 'a:', '-', ':'])
      expect([text, parseQuery(text, FIELDS).terms.map(({ value }) => value)]).toEqual([text, [text]]);
    expect(parseQuery('connection: "" code:""', FIELDS)).toEqual({ terms: [], problems: [] });
    expect(parseQuery('"open quote', FIELDS).terms).toMatchObject([{ value: 'open quote' }]);
  });

  it('is written so that it is read again.', () => {
    for (const value of ['files', 'two words', 'a "quote" \\ and more'])
      expect(parseQuery(termOf('connection', value), FIELDS).terms).toEqual([
        { field: 'connection', value, isExcluded: false },
      ]);
  });
});
