import { expect } from 'chai';
import { headerValue, RawConnection, type RawHeader } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, ROOT } from '../../support/http/call.js';
import {
  type BodyVector,
  type HeaderVector,
  readCorpus,
  toBytes,
} from '../../support/http/corpus.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { buildRequest } from '../../support/http/send-request.js';
import { useHost } from '../../support/http/use-host.js';

interface ContentTypes {
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

const TARGET = '/modules/wide/http/a';
const BODY_METHODS = ['POST', 'PUT', 'PATCH'] as const;
const FRAMINGS = ['length', 'chunked'] as const;
const SMALL_LIMIT = 64;
const QUICK_MS = 1000;

describe('body policy', () => {
  const setup = useHost((provider) => ({
    'wide.json': describeWideModule('wide', provider.url),
    'small.json': describeWideModule('small', provider.url, {
      limits: { request_bytes: SMALL_LIMIT },
    }),
    'quick.json': describeWideModule('quick', provider.url, { limits: { timeout_ms: QUICK_MS } }),
  }));

  for (const vector of readCorpus<BodyVector[]>('bodies-accepted')) {
    it(`forwards ${vector.title} byte for byte`, async () => {
      const body = toBytes(vector.body);
      for (const framing of FRAMINGS) {
        setup.provider.reset();
        const request = { method: 'POST', target: TARGET, headers: [JSON_TYPE], body, framing };
        const response = await call(setup.host, request);
        expect(response.status, response.body.toString()).to.equal(200);
        expect(setup.provider.only().body.equals(body), `${framing}: same bytes`).to.equal(true);
      }
    });
  }

  readCorpus<BodyVector[]>('bodies-refused').forEach((vector, index) => {
    const method = BODY_METHODS[index % BODY_METHODS.length] ?? 'POST';
    it(`rejects ${vector.title}`, async () => {
      const body = toBytes(vector.body);
      for (const framing of FRAMINGS) {
        const request = { method, target: TARGET, headers: [JSON_TYPE], body, framing };
        expectProblem(await call(setup.host, request), 400);
      }
      expect(setup.provider.requests, 'calls of the provider').to.have.length(0);
    });
  });

  const types = readCorpus<ContentTypes>('content-types');
  const post = (contentType: string) =>
    call(setup.host, {
      method: 'POST',
      target: TARGET,
      headers: [['content-type', contentType]],
      body: Buffer.from('{}'),
    });

  for (const type of types.accepted) {
    it(`accepts content-type ${JSON.stringify(type)} and forwards it as sent`, async () => {
      expect((await post(type)).status).to.equal(200);
      const sent = setup.provider.only().headers.filter(([name]) => /^content-type$/i.test(name));
      expect(sent.map(([, value]) => value)).to.deep.equal([type]);
    });
  }

  for (const type of types.refused) {
    it(`rejects content-type ${JSON.stringify(type)}`, async () => {
      expectProblem(await post(type), 400);
      expect(setup.provider.requests, 'calls of the provider').to.have.length(0);
    });
  }

  for (const vector of readCorpus<HeaderVector[]>('body-headers')) {
    it(vector.title, async () => {
      const { method, headers, status, body, framing } = vector;
      const response = await call(setup.host, {
        method,
        target: TARGET,
        headers,
        ...(body === undefined ? {} : { body: toBytes(body) }),
        ...(framing === undefined ? {} : { framing }),
      });
      if (status !== 200) {
        expectProblem(response, status);
        expect(setup.provider.requests, 'calls of the provider').to.have.length(0);
        return;
      }
      expect(response.status, response.body.toString()).to.equal(200);
      const expected = BODY_METHODS.some((candidate) => candidate === method)
        ? toBytes(body ?? '')
        : '';
      expect(setup.provider.only().body.toString()).to.equal(expected.toString());
    });
  }

  for (const framing of FRAMINGS) {
    it(`counts the bytes of the body, not of its framing (${framing})`, async () => {
      const statuses: number[] = [];
      for (const length of [SMALL_LIMIT - 1, SMALL_LIMIT, SMALL_LIMIT + 1]) {
        const body = Buffer.from(`"${'x'.repeat(length - 2)}"`);
        const target = '/modules/small/http/a';
        const request = { method: 'PUT', target, headers: [JSON_TYPE], body, framing };
        statuses.push((await call(setup.host, request)).status);
      }
      expect(statuses).to.deep.equal([200, 200, 400]);
    });
  }

  it('counts bytes, not characters', async () => {
    const body = Buffer.from(`"${'é'.repeat(SMALL_LIMIT / 2)}"`);
    const target = '/modules/small/http/a';
    expectProblem(
      await call(setup.host, { method: 'POST', target, headers: [JSON_TYPE], body }),
      400,
    );
  });

  it('separates the body of a GET from the next request', async () => {
    const head = { target: TARGET, headers: keepAlive(setup.host.port) };
    const smuggled = buildRequest({ ...head, target: '/modules/wide/http/smuggled' });
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(buildRequest({ ...head, body: smuggled }));
      connection.write(buildRequest({ ...head, target: '/modules/wide/http/second' }));
      expect((await connection.readFinal()).status).to.equal(200);
      expect((await connection.readFinal()).status).to.equal(200);
    } finally {
      connection.destroy();
    }
    const targets = setup.provider.requests.map((request) => request.target);
    expect(targets).to.deep.equal(['/a', '/second']);
  });

  it('answers 400 to a content-length over the limit before the body arrives', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(openPost(setup.host.port, 'content-length: 10000000000'));
      expectProblem(await connection.readFinal(), 400);
    } finally {
      connection.destroy();
    }
  });

  it('answers 400 to an endless chunked body over the limit', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(openPost(setup.host.port, 'transfer-encoding: chunked'));
      const chunk = Buffer.from(`20000\r\n${'x'.repeat(0x20000)}\r\n`);
      for (let sent = 0; sent < 9; sent += 1) connection.write(chunk);
      expectProblem(await connection.readFinal(), 400);
    } finally {
      connection.destroy();
    }
  });

  it('does not forward an incomplete body', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(`${openPost(setup.host.port, 'content-length: 20')}{"a":1}`);
      connection.end();
      await connection.closed();
      expect(connection.unread).to.satisfy(
        (text: string) => text === '' || text.startsWith('HTTP/1.1 400 '),
      );
    } finally {
      connection.destroy();
    }
    expect(setup.provider.requests).to.have.length(0);
  });

  it('does not count the time of a slow body against the provider', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      const head = openPost(setup.host.port, 'content-length: 8').replace('/wide/', '/quick/');
      connection.write(head);
      for (const piece of ['{"a"', ':', ' 1', '}']) {
        await new Promise((resolve) => setTimeout(resolve, QUICK_MS / 2));
        connection.write(piece);
      }
      expect((await connection.readFinal()).status).to.equal(200);
    } finally {
      connection.destroy();
    }
    const { headers, body } = setup.provider.only();
    expect(body.toString()).to.equal('{"a": 1}');
    expect(Number(headerValue(headers, 'modgate-deadline-ms'))).to.be.within(1, QUICK_MS);
  });

  it('drops the trailers of a chunked body', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(openPost(setup.host.port, 'transfer-encoding: chunked'));
      connection.write('2\r\n{}\r\n0\r\nmodgate-actor: system:evil\r\nprefer: x\r\n\r\n');
      expect((await connection.readFinal()).status).to.equal(200);
    } finally {
      connection.destroy();
    }
    const received = setup.provider.only();
    expect(received.body.toString()).to.equal('{}');
    expect(received.headers.filter(([name]) => name.toLowerCase() === 'prefer')).to.deep.equal([]);
    expect(JSON.stringify(received.headers)).not.to.include('evil');
  });
});

function keepAlive(port: number): RawHeader[] {
  return [
    ['host', `127.0.0.1:${port}`],
    ['authorization', `Bearer ${ROOT}`],
  ];
}

function openPost(port: number, framing: string): string {
  const head = [`POST ${TARGET} HTTP/1.1`, `host: 127.0.0.1:${port}`];
  head.push(`authorization: Bearer ${ROOT}`, 'content-type: application/json', framing);
  return `${head.join('\r\n')}\r\n\r\n`;
}
