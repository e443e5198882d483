import { expect } from 'chai';
import { parseUrl } from '../../../plugins/shared/parse-url.js';

describe('the URL of a request to a surface', () => {
  it('keeps up to 100 parameters as they were sent', () => {
    for (const query of ['', '?', '?a=1&b=%41+c', `?${'a=%ff&'.repeat(99)}z=1`]) {
      expect(parseUrl(`http://host/console${query}`).href).to.equal(`http://host/console${query}`);
    }
  });

  it('drops all behind them', () => {
    const { pathname, searchParams } = parseUrl(`http://host/console?${'a=%ff&'.repeat(100)}z=1`);
    expect(pathname).to.equal('/console');
    expect(searchParams.getAll('a')).to.have.length(100);
    expect(searchParams.has('z')).to.equal(false);
  });
});
