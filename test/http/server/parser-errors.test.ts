import { expect } from 'chai';
import {
  headerValue,
  RawConnection,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { call, ROOT } from '../../support/http/call.js';
import { readCorpus } from '../../support/http/corpus.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

interface Vector {
  readonly title: string;
  /** Latin-1; `{host}`, `{auth}`, `{route}` and `{n}` (n letters) are filled in. */
  readonly send: readonly string[];
  readonly status: readonly number[];
}

const ROUTE = '/modules/crm/http/items';

describe('parser errors', () => {
  const setup = useHost((provider) => ({ 'crm.json': describeWideModule('crm', provider.url) }));
  const fill = (text: string) =>
    text
      .replaceAll('{host}', `127.0.0.1:${setup.host.port}`)
      .replaceAll('{auth}', `authorization: Bearer ${ROOT}\r\n`)
      .replaceAll('{route}', ROUTE)
      .replace(/\{(\d+)\}/g, (_, times) => 'x'.repeat(Number(times)));
  const withConnection = async (run: (connection: RawConnection) => Promise<void>) => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      await run(connection);
    } finally {
      connection.destroy();
    }
  };

  for (const vector of readCorpus<Vector[]>('parser-refused')) {
    it(`send a Problem for ${vector.title} and close the connection`, async () => {
      await withConnection(async (connection) => {
        for (const piece of vector.send) connection.write(fill(piece));
        const response = await connection.readFinal();
        expect(response.status, response.body.toString()).to.be.oneOf(vector.status);
        const { request_id, status } = expectProblem(response, response.status);
        const isLogged = () =>
          setup.host.logs().some((line) => {
            const isMalformed = line['msg'] === 'rejected malformed request';
            const isTheOne = line['request_id'] === request_id && line['status'] === status;
            return isTheOne && (isMalformed || line['msg'] === 'request');
          });
        await waitUntil('the log line', isLogged);
        expectClose(response);
        await connection.closed();
        expect(connection.unread, 'bytes after the Problem').to.equal('');
      });
      expect(setup.provider.requests, 'calls of the provider').to.have.length(0);
    });
  }

  const END = '\r\n\r\n';
  const GET = 'GET {route} HTTP/1.1\r\nhost: {host}\r\n{auth}';
  const POST = 'POST {route} HTTP/1.1\r\nhost: {host}\r\n{auth}content-type: application/json\r\n';
  const parts: readonly (readonly [sent: string, field: string, code: string])[] = [
    [`GET {route}/caf\u00e9 HTTP/1.1\r\nhost: {host}${END}`, 'target', 'HPE_INVALID_URL'],
    [`GET {route}/a b HTTP/1.1\r\nhost: {host}${END}`, 'target', 'HPE_INVALID_CONSTANT'],
    [`${GET}ho st: a${END}`, 'headers', 'HPE_INVALID_HEADER_TOKEN'],
    [`${GET}x: a\x01b${END}`, 'headers', 'HPE_INVALID_HEADER_TOKEN'],
    [`${GET}: a${END}`, 'headers', 'HPE_INVALID_HEADER_TOKEN'],
    [`FOO / HTTP/1.1${END}`, 'method', 'HPE_INVALID_METHOD'],
    ['\x16\x03\x01\x02\x00', 'method', 'HPE_INVALID_METHOD'],
    [`GET / HTTP/3.1\r\nhost: a${END}`, 'version', 'HPE_INVALID_VERSION'],
    [`PRI * HTTP/2.0${END}SM${END}`, 'version', 'HPE_PAUSED_H2_UPGRADE'],
    [
      `${POST}content-length: 1\r\ncontent-length: 2${END}`,
      'content-length',
      'HPE_UNEXPECTED_CONTENT_LENGTH',
    ],
    [`${POST}content-length: x${END}`, 'content-length', 'HPE_INVALID_CONTENT_LENGTH'],
    [`${POST}transfer-encoding: gzip${END}`, 'transfer-encoding', 'HPE_INVALID_TRANSFER_ENCODING'],
    [`${POST}transfer-encoding: chunked${END}zz\r\n`, 'body', 'HPE_INVALID_CHUNK_SIZE'],
  ];
  for (const [sent, field, code] of parts) {
    it(`name the part that is wrong: ${JSON.stringify(sent)}`, async () => {
      await withConnection(async (connection) => {
        connection.write(fill(sent));
        const response = await connection.readFinal();
        const { request_id, errors } = expectProblem(response, 400);
        expect(errors).to.have.length(1);
        expect(errors[0]?.field).to.equal(field);
        const find = async () => {
          const { body } = await call(setup.host, { target: `/calls?request_id=${request_id}` });
          return (JSON.parse(body.toString()) as { calls: Record<string, unknown>[] }).calls[0];
        };
        await waitUntil('the record', async () => (await find()) !== undefined);
        expect(await find()).to.include({ step: 'parser', failure_detail: code });
      });
    });
  }

  it('carry modgate-origin, since their path may be below /modules/', async () => {
    await withConnection(async (connection) => {
      connection.write('GARBAGE\r\n\r\n');
      const { headers } = await connection.readFinal();
      expect(headerValue(headers, 'modgate-origin')).to.equal('host');
    });
  });

  describe('about the body of a request', () => {
    const IDS = 'x-request-id: chosen-1\r\nx-correlation-id: chosen-2\r\n';
    const HEAD =
      `POST {route} HTTP/1.1\r\nhost: {host}\r\n{auth}content-type: application/json\r\n${IDS}` +
      'accept: application/problem+json\r\ntransfer-encoding: chunked\r\n';
    const expectChosen = (response: ReceivedResponse) => {
      const { request_id, correlation_id } = expectProblem(response, 400);
      expect([request_id, correlation_id]).to.deep.equal(['chosen-1', 'chosen-2']);
      expect(headerValue(response.headers, 'content-type')).to.equal('application/problem+json');
      expectClose(response);
    };

    it('keep its ids and its type of Problem when head and body arrive together', async () => {
      await withConnection(async (connection) => {
        connection.write(fill(`${HEAD}\r\nzz\r\n`));
        expectChosen(await connection.readFinal());
      });
    });

    it('keep them when the request is being handled, and are its result', async () => {
      const counted = async () => {
        const { body } = await call(setup.host, { target: '/metrics' });
        const [, count = '0'] =
          /requests_total\{module="crm",method="POST",route="\/\{rest\.\.\.\}",status="400"\} (\d+)/.exec(
            body.toString(),
          ) ?? [];
        return Number(count);
      };
      const before = await counted();
      await withConnection(async (connection) => {
        connection.write(fill(`${HEAD}expect: 100-continue\r\n\r\n`));
        expect((await connection.read()).status).to.equal(100);
        connection.write('zz\r\n');
        expectChosen(await connection.readFinal());
        expect(await counted()).to.equal(before + 1);
      });
      const results = () =>
        setup.host
          .logs()
          .filter((line) => line['msg'] === 'request' && line['request_id'] === 'chosen-1')
          .map(({ status, failure, route }) => ({ status, failure, route }));
      await waitUntil('the log line', () => results().length > 0);
      expect(results()).to.deep.equal([{ status: 400, failure: null, route: '/{rest...}' }]);
    });

    it('have the ids of its log line when it chose none', async () => {
      await withConnection(async (connection) => {
        const head = HEAD.replace(IDS, '');
        connection.write(fill(`${head}expect: 100-continue\r\n\r\n`));
        expect((await connection.read()).status).to.equal(100);
        connection.write('zz\r\n');
        const { request_id } = expectProblem(await connection.readFinal(), 400);
        const isLogged = () =>
          setup.host
            .logs()
            .some((line) => line['msg'] === 'request' && line['request_id'] === request_id);
        await waitUntil('the log line', isLogged);
      });
    });
  });

  it('do not occur for a client that closes the connection amid its body', async () => {
    const head = fill('POST {route} HTTP/1.1\r\nhost: {host}\r\n{auth}x-request-id: gone-1\r\n');
    await withConnection(async (connection) => {
      connection.write(
        `${head}content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n`,
      );
      expect((await connection.read()).status).to.equal(100);
      connection.write('{');
      connection.end();
      await connection.closed();
      expect(connection.unread).to.equal('');
    });
    const results = () =>
      setup.host
        .logs()
        .filter((line) => line['request_id'] === 'gone-1')
        .map(({ status, failure }) => ({ status, failure }));
    await waitUntil('the log line', () => results().length > 0);
    expect(results()).to.deep.equal([{ status: 499, failure: 'cancelled' }]);
  });

  it('keep the ids of a CONNECT', async () => {
    await withConnection(async (connection) => {
      connection.write(
        fill('CONNECT {host} HTTP/1.1\r\nhost: {host}\r\nx-request-id: tunnel\r\n\r\n'),
      );
      expect(expectProblem(await connection.readFinal(), 501).request_id).to.equal('tunnel');
    });
  });

  it('never overtake the response to an earlier request', async () => {
    setup.provider.answer({ delayMs: 100 });
    await withConnection(async (connection) => {
      connection.write(fill('GET {route} HTTP/1.1\r\nhost: {host}\r\n{auth}\r\n'));
      connection.write('GARBAGE\r\n\r\n');
      await connection.closed();
      const first = connection.unread.slice(0, 'HTTP/1.1 200'.length);
      expect(first).to.be.oneOf(['HTTP/1.1 200', '']);
    });
  });

  it('follow the response to a completed request', async () => {
    await withConnection(async (connection) => {
      connection.write(fill('GET {route} HTTP/1.1\r\nhost: {host}\r\n{auth}\r\n'));
      expect((await connection.readFinal()).status).to.equal(200);
      connection.write('GARBAGE\r\n\r\n');
      expectProblem(await connection.readFinal(), 400);
      await connection.closed();
    });
  });

  it('do not occur for a request that arrives byte by byte', async () => {
    await withConnection(async (connection) => {
      const request = fill('GET {route}?a=b HTTP/1.1\r\nhost: {host}\r\n{auth}\r\n');
      for (const byte of request) connection.write(byte);
      expect((await connection.readFinal()).status).to.equal(200);
    });
    expect(setup.provider.only().target).to.equal('/items?a=b');
  });

  it('do not occur for three requests at once, which are answered in order', async () => {
    await withConnection(async (connection) => {
      const request = (target: string) =>
        fill(`GET ${target} HTTP/1.1\r\nhost: {host}\r\n{auth}\r\n`);
      connection.write(request(ROUTE) + request('/nothing') + request('/livez'));
      const statuses = [];
      for (let read = 0; read < 3; read += 1) statuses.push((await connection.readFinal()).status);
      expect(statuses).to.deep.equal([200, 404, 200]);
    });
  });

  it('do not hide headers: the last of 2,000 is checked too', async () => {
    const filler: [string, string][] = Array.from({ length: 2_000 }, () => ['a', '']);
    const post = (types: readonly string[]) =>
      call(setup.host, {
        method: 'POST',
        target: ROUTE,
        headers: [...filler, ...types.map((type): [string, string] => ['content-type', type])],
        body: Buffer.from('{}'),
      });
    expect((await post(['application/json'])).status).to.equal(200);
    expectProblem(await post(['application/json', 'application/json']), 400);
  });

  it('do not occur for a chunked coding in another case', async () => {
    await withConnection(async (connection) => {
      const head =
        'POST {route} HTTP/1.1\r\nhost: {host}\r\n{auth}content-type: application/json\r\n';
      connection.write(fill(`${head}transfer-encoding: Chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\n\r\n`));
      expect((await connection.readFinal()).status).to.equal(200);
    });
    expect(setup.provider.only().body.toString()).to.equal('{}');
  });

  for (const expectation of ['100-continue', '100-Continue']) {
    it(`do not occur for the expectation ${expectation}`, async () => {
      await withConnection(async (connection) => {
        const head =
          'POST {route} HTTP/1.1\r\nhost: {host}\r\n{auth}content-type: application/json\r\n';
        connection.write(fill(`${head}content-length: 2\r\nexpect: ${expectation}\r\n\r\n`));
        const interim = await connection.read();
        expect(interim.status).to.equal(100);
        connection.write('{}');
        expect((await connection.readFinal()).status).to.equal(200);
      });
      const received = setup.provider.only();
      expect(headerValue(received.headers, 'expect')).to.equal(undefined);
      expect(received.body.toString()).to.equal('{}');
    });
  }

  it('do not occur for an expectation in HTTP/1.0, which has no interim responses', async () => {
    await withConnection(async (connection) => {
      const head =
        'POST {route} HTTP/1.0\r\nhost: {host}\r\n{auth}content-type: application/json\r\n';
      connection.write(fill(`${head}content-length: 2\r\nexpect: 100-continue\r\n\r\n{}`));
      expect((await connection.read()).status).to.equal(200);
    });
  });

  it('leave 401 to a client that waits for 100', async () => {
    await withConnection(async (connection) => {
      const head = 'POST {route} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n';
      connection.write(fill(`${head}content-length: 2\r\nexpect: 100-continue\r\n\r\n`));
      expectProblem(await connection.readFinal(), 401);
    });
  });

  it('do not occur for HTTP/1.0, which closes the connection', async () => {
    await withConnection(async (connection) => {
      connection.write(fill('GET /livez HTTP/1.0\r\nhost: {host}\r\n\r\n'));
      expect((await connection.readFinal()).status).to.equal(200);
      await connection.closed();
    });
  });

  it('do not stop the host after silent and interrupted connections', async () => {
    for (const text of ['', 'G', 'GET /livez HTTP/1.1\r\nho']) {
      await withConnection(async (connection) => {
        connection.write(text);
        connection.end();
        await connection.closed();
      });
    }
    expect((await call(setup.host, { target: '/livez', as: null })).status).to.equal(200);
  });
});

function expectClose(response: ReceivedResponse): void {
  expect(headerValue(response.headers, 'connection')?.toLowerCase()).to.equal('close');
}
