/** The text format of Prometheus. */
import { describe, expect, it } from 'vitest';
import { toText } from '../../../../src/gateway/metrics/prometheus-text.js';
import { useLeakCheck } from '../../../support/leak-check.js';

describe('the text', () => {
  it('escapes the values of labels and the help.', () => {
    const labels = { a: 'back\\slash "quoted"\nnext' };
    expect(
      toText([{ name: 'm', help: 'a\\b\nc "d"', type: 'gauge', samples: [{ labels, value: 1.5 }] }]),
    ).toBe('# HELP m a\\\\b\\nc "d"\n# TYPE m gauge\nm{a="back\\\\slash \\"quoted\\"\\nnext"} 1.5\n');
  });

  it('counts the observations of a histogram up to each boundary.', () => {
    const samples = [{ labels: { a: 'b' }, buckets: [1, 0, 2], sum: 7 }];
    const text = toText([{ name: 'm', help: 'h', type: 'histogram', boundaries: [0.5, 1], samples }]);
    expect(text.split('\n').slice(2)).toEqual([
      'm_bucket{a="b",le="0.5"} 1',
      'm_bucket{a="b",le="1"} 1',
      'm_bucket{a="b",le="+Inf"} 3',
      'm_sum{a="b"} 7',
      'm_count{a="b"} 3',
      '',
    ]);
  });

  it('leaves out a metric without samples.', () => {
    expect(toText([{ name: 'm', help: 'h', type: 'counter', samples: [] }])).toBe('');
  });
});

useLeakCheck();
