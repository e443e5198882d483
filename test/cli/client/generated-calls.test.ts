import { expect } from 'chai';
import { readClientModel } from '../../../core/cli/typescript/client-model.js';
import { generateClient } from '../../../core/cli/typescript/generate-client.js';
import { toModuleUrl } from '../../support/typescript/compile.js';
import { SAMPLE_DOCUMENT } from '../../support/typescript/sample-document.js';

const CLIENT = generateClient(readClientModel(SAMPLE_DOCUMENT));

describe('a generated client that calls a host', () => {
  type Client = Record<string, Record<string, (...args: unknown[]) => unknown>>;

  interface Sent {
    readonly url: string;
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
  }

  let loaded: Promise<{ createClient(options: object): Client }> | undefined;

  async function record(
    work: (client: Client) => unknown,
    answer: { status: number; text: string } = { status: 200, text: '{}' },
  ): Promise<{ sent: Sent[]; result: unknown }> {
    const sent: Sent[] = [];
    loaded ??= import(toModuleUrl(CLIENT));
    const { createClient } = await loaded;
    const fetch = async (url: string, init: Omit<Sent, 'url'>) => {
      sent.push({ url, ...init });
      const { status, text } = answer;
      return { status, headers: new Headers(), text: async () => text };
    };
    const result = await work(createClient({ url: 'http://host/', token: 'secret', fetch }));
    return { sent, result };
  }

  it('encodes each segment of a rest parameter', async () => {
    const { sent } = await record((client) =>
      client['acmeCrm']?.['delete']?.({ filePath: 'a b/c%/ü' }),
    );
    expect(sent[0]).to.include({
      method: 'DELETE',
      url: 'http://host/modules/acme%2Fcrm/http/files/a%20b/c%25/%C3%BC',
    });
    expect(sent[0]?.headers).to.deep.equal({
      accept: 'application/json',
      authorization: 'Bearer secret',
    });
  });

  it('sends repeated parameters for an array, and nothing for what is absent', async () => {
    const { sent } = await record((client) =>
      client['shop']?.['listItems']?.({ tag: ['a&b', 'c'], limit: undefined }),
    );
    expect(sent[0]?.url).to.equal('http://host/modules/shop/http/items?tag=a%26b&tag=c');
  });

  it('sends an idempotency key if the route takes one', async () => {
    const { sent } = await record(async (client) => {
      await client['shop']?.['list_items']?.({ body: { a: 1 } }, { idempotencyKey: 'first' });
      await client['shop']?.['list_items']?.({}, { idempotencyKey: 'k', headers: { 'X-A': '1' } });
    });
    expect(sent[0]?.headers['idempotency-key']).to.equal('first');
    expect(sent[0]).to.deep.include({ body: '{"a":1}' });
    expect(sent[0]?.headers).to.include({ 'content-type': 'application/json' });
    expect(sent[1]?.headers).to.include({ 'idempotency-key': 'k', 'x-a': '1' });
    expect(sent[1]).not.to.have.property('body');
  });

  it('sends nothing for a segment that would lead to another route', async () => {
    for (const id of ['', '.', '..']) {
      const { sent, result } = await record((client) => client['shop']?.['getItem']?.({ id }));
      expect(sent).to.deep.equal([]);
      expect(result).to.have.nested.property('error.code', 'not_found');
    }
  });

  it('sends nothing for a lone surrogate, which rejects as in fetch', async () => {
    const { sent } = await record(async (client) => {
      const calls = [
        client['shop']?.['getItem']?.({ id: '\ud800' }),
        client['shop']?.['listItems']?.({ tag: ['a', '\udfff'] }),
      ];
      for (const call of calls) {
        const error = await Promise.resolve(call).catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(TypeError);
      }
    });
    expect(sent).to.deep.equal([]);
  });

  it('reports a body that is neither the envelope nor a Problem', async () => {
    for (const text of ['{}', 'text', '{"status":"forwarded"}', '']) {
      const { result } = await record((client) => client['shop']?.['getItem']?.({ id: '1' }), {
        status: 200,
        text,
      });
      expect(result, text).to.deep.include({ ok: false, status: 200 });
      expect(result).to.have.nested.property('error.code', 'unexpected_answer');
    }
  });

  it('returns the body of a raw route as it is', async () => {
    const { result } = await record(
      (client) => Object.values(client['acmeCrm'] ?? {})[0]?.({ filePath: 'a' }),
      { status: 201, text: '[1]' },
    );
    expect(result).to.deep.include({ ok: true, status: 201, data: [1] });
  });
});
