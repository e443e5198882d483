import { expect } from 'chai';
import type { ReceivedResponse } from '../../../core/selftest/raw-http.js';
import { JSON_TYPE } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { KeptConnection } from '../../support/http/kept-connection.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { readOutside } from '../../support/outside.js';

interface JsonFile {
  /** Starts with y (valid), n (invalid) or i (a parser may do either). */
  readonly name: string;
  /** Base64. */
  readonly bytes: string;
}

const FILES = readOutside<readonly JsonFile[]>('json-test-suite.json.gz');
type Verdict = 'accepts' | 'rejects' | 'accepts or rejects';
const VERDICTS: Readonly<Record<string, Verdict>> = { y: 'accepts', n: 'rejects' };
/** Cases that the host decides differently for a response, with the reason. */
const DIFFERENCES: Readonly<Record<string, { readonly verdict: Verdict; readonly why: string }>> = {
  n_structure_no_data: { verdict: 'accepts', why: 'without a body the data is null' },
};
const ROUTES = ['PUT', 'GET'].map((method) => ({ method, path: '/x', capability: 'shop.use' }));
const TARGET = '/modules/shop/http/x';
const MARK = Buffer.from('\ufeff');

describe('the JSON test suite through a host', () => {
  if (FILES === null) {
    it('is not run: its data was not found');
    return;
  }

  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, { breaker: { failures: 1000, ratio: 1 } }),
    }),
    { args: ['--log-success-sample', '0'] },
  );
  const client = new KeptConnection(() => setup.host.port);
  after(() => client.close());

  /** @returns whether the status is that of an accepted file */
  const expectVerdict = (response: ReceivedResponse, verdict: Verdict): boolean => {
    const isAccepted = response.status === 200;
    expect(verdict.split(' or '), `${response.status}`).to.include(
      isAccepted ? 'accepts' : 'rejects',
    );
    return isAccepted;
  };

  for (const { name, bytes } of FILES) {
    const body = Buffer.from(bytes, 'base64');
    const verdict = VERDICTS[name.charAt(0)] ?? 'accepts or rejects';

    it(`${verdict} the request ${name}, and forwards the same bytes or nothing`, async () => {
      const headers = [JSON_TYPE];
      const response = await client.send({ method: 'PUT', target: TARGET, headers, body });
      const isAccepted = expectVerdict(response, verdict);
      if (!isAccepted) expectProblem(response, 400);
      const forwarded = setup.provider.requests.map((received) => received.body.equals(body));
      expect(forwarded).to.deep.equal(isAccepted ? [true] : []);
    });

    const { verdict: answered } = DIFFERENCES[name] ?? { verdict };
    it(`${answered} the response ${name}, and returns the same bytes or none`, async () => {
      setup.provider.answer({ body });
      const response = await client.send({ target: TARGET });
      if (!expectVerdict(response, answered)) return void expectProblem(response, 502);
      // The envelope leaves out a byte-order mark.
      const json = body.subarray(0, MARK.length).equals(MARK) ? body.subarray(MARK.length) : body;
      const data = Buffer.concat([
        Buffer.from('"data":'),
        json.length > 0 ? json : Buffer.from('null'),
      ]);
      expect(response.body.includes(data)).to.equal(true);
    });
  }
});
