import { expect } from 'chai';
import { parseExposition } from '../../support/observability/exposition.js';

const GAUGE = '# HELP a Text.\n# TYPE a gauge\n';
const HISTOGRAM = '# HELP h Text.\n# TYPE h histogram\n';

/** Tests the parser itself: one that accepts everything would prove nothing. */
describe('exposition format parser', () => {
  it('reads escaped labels, values of every form and complete histograms', () => {
    const text =
      `${GAUGE}a{x="\\"\\\\\\n,}",y=""} 1.5e-3\na NaN\n\n${HISTOGRAM}` +
      'h_bucket{le="0.1"} 1\nh_bucket{le="+Inf"} 3\nh_sum 2\nh_count 3\n';
    const { samples, types } = parseExposition(text);
    expect(samples[0]).to.deep.equal({
      name: 'a',
      labels: { x: '"\\\n,}', y: '' },
      value: 0.0015,
    });
    expect(types.get('h')).to.equal('histogram');
  });

  const BAD: readonly (readonly [string, string])[] = [
    ['a missing end', `${GAUGE}a 1`],
    ['a sample without a type', 'a 1\n'],
    ['a sample of another metric', `${GAUGE}b 1\n`],
    ['a type without help', '# TYPE a gauge\na 1\n'],
    ['a metric that comes twice', `${GAUGE}a 1\n${GAUGE}a{x="1"} 1\n`],
    ['a series that comes twice', `${GAUGE}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`],
    ['a label that comes twice', `${GAUGE}a{x="1",x="2"} 1\n`],
    ['an open quote', `${GAUGE}a{x="1} 1\n`],
    ['an escape that is none', `${GAUGE}a{x="\\t"} 1\n`],
    ['a value that is none', `${GAUGE}a one\n`],
    ['a comma at the end of labels', `${GAUGE}a{x="1",} 1\n`],
    ['a counter that is not …_total', '# HELP c Text.\n# TYPE c counter\nc 1\n'],
    ['a counter below 0', '# HELP c_total Text.\n# TYPE c_total counter\nc_total -1\n'],
    [
      'buckets that fall',
      `${HISTOGRAM}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
    ],
    ['no last bucket', `${HISTOGRAM}h_bucket{le="1"} 2\nh_sum 1\nh_count 2\n`],
    ['another count', `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`],
    ['no sum', `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_count 1\n`],
  ];
  for (const [title, text] of BAD) {
    it(`rejects ${title}`, () => {
      expect(() => parseExposition(text)).to.throw();
    });
  }
});
