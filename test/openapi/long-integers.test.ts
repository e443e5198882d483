import { expect } from 'chai';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

describe('GET /openapi.json with integers of 64 bits', () => {
  const int64 = { type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 };
  const count = { type: 'integer', maximum: 2 ** 64, enum: [2 ** 53, 1] };
  const setup = useHost(({ url }) => ({
    'long.json': describeModule('long', url, [
      {
        method: 'POST',
        path: '/any/{id}',
        operation: {
          input_schema: { type: 'object', properties: { count } },
          query_schema: { type: 'object', properties: { after: int64 } },
          path_params_schema: { type: 'object', properties: { id: int64 } },
        },
      },
    ]),
  }));

  it('has the digits of their limits', async () => {
    const text = (await call(setup.host, { target: '/openapi.json' })).body.toString();
    const range = '"minimum":-9223372036854775808,"maximum":9223372036854775807';
    expect(text.split(range)).to.have.length(3);
    expect(text).to.include('"maximum":18446744073709551615,"enum":[9007199254740992,1]');
  });
});
