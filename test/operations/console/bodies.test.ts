import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { RawConnection, type RawHeader } from '../../../core/selftest/raw-http.js';
import { askBridge, bridgeBody, bridgeTarget, sendBridge } from '../../support/bridge/bridge.js';
import { readBridgeCorpus } from '../../support/bridge/corpus.js';
import { crmDescriptor, READ } from '../../support/bridge/crm.js';
import { cpuMsSince } from '../../support/cpu-time.js';
import {
  type BodyVector,
  type HeaderVector,
  readCorpus,
  toBytes,
} from '../../support/http/corpus.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { buildRequest, sendRequest } from '../../support/http/send-request.js';
import { useHost } from '../../support/http/use-host.js';
import { slowness } from '../../support/slowness.js';

interface PayloadVector {
  readonly title: string;
  readonly payload: unknown;
  readonly field: string;
}

// The most errors that a response lists.
const MAX_ERRORS = 100;
// Almost as many as a body may have.
const CROWD = Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`m${index}`, 1]));

const MAX_BODY_BYTES = 1_048_576;
const MAX_NESTING = 1_000;
const MAX_VALUES = 20_000;

const CALL = { permission: READ };
const METADATA = { operation: 'modules_metadata' };
const BODY = JSON.stringify(bridgeBody({ ...CALL, payload: METADATA }));

/** A valid body with this JSON as its context. */
function bodyAround(context: string): string {
  const payload = { operation: 'contributions_resolve', target: 'x', context: 'CONTEXT' };
  return JSON.stringify(bridgeBody({ ...CALL, payload })).replace('"CONTEXT"', () => context);
}

// The body itself and its payload are two levels around the context.
const LEVELS_AROUND = 2;

function nestArrays(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

function nestObjects(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

describe('console bridge: bodies', () => {
  const setup = useHost(({ url }) => ({ 'crm.json': crmDescriptor(url) }));

  const send = (body: string | Uint8Array | null, headers?: readonly RawHeader[]) =>
    sendBridge(setup.host, { ...CALL, ...(headers === undefined ? {} : { headers }) }, body);

  const expectRejected = async (body: string | Uint8Array | null, headers?: readonly RawHeader[]) =>
    expectProblem((await send(body, headers)).response, 400);

  it('accepts the base body of these tests', async () => {
    const { status, text } = await send(BODY);
    expect(status, text).to.equal(200);
  });

  for (const { title, body } of readCorpus<BodyVector[]>('bodies-refused')) {
    it(`rejects ${title}`, async () => {
      await expectRejected(toBytes(body));
    });
  }

  for (const body of ['null', '0', '""', '[]', 'true', '{}', `[${BODY}]`]) {
    it(`rejects the body ${body.slice(0, 20)}, which is JSON but not a request`, async () => {
      await expectRejected(body);
    });
  }

  it('ignores a byte-order mark before a valid body', async () => {
    expect((await send(`\ufeff${BODY}`)).status).to.equal(200);
    await expectRejected(`\ufeff\ufeff${BODY}`);
  });

  it('rejects invalid UTF-8 within a valid body', async () => {
    await expectRejected(Buffer.from(bodyAround('"caf\u00e9"'), 'latin1'));
  });

  it('accepts text beyond ASCII', async () => {
    expect((await send(bodyAround('"café \\ud83d\\ude00 😀"'))).status).to.equal(200);
  });

  const types = readCorpus<{ accepted: string[]; refused: string[] }>('content-types');
  for (const type of types.accepted) {
    it(`accepts content-type ${JSON.stringify(type)}`, async () => {
      expect((await send(BODY, [['content-type', type]])).status).to.equal(200);
    });
  }
  for (const type of types.refused) {
    it(`rejects content-type ${JSON.stringify(type)}`, async () => {
      await expectRejected(BODY, [['content-type', type]]);
    });
  }

  // `connection` matters for forwarded requests only.
  const isAboutBody = ({ method, body, headers }: HeaderVector) =>
    method === 'POST' &&
    body !== undefined &&
    body !== '' &&
    headers.every(([name]) => name.toLowerCase() !== 'connection');
  for (const vector of readCorpus<HeaderVector[]>('body-headers').filter(isAboutBody)) {
    it(vector.title, async () => {
      const { response, text } = await send(BODY, vector.headers);
      if (vector.status === 200) expect(response.status, text).to.equal(200);
      else expectProblem(response, vector.status);
    });
  }

  it('rejects a request without a body', async () => {
    await expectRejected(null);
  });

  it('rejects a compressed body, and one that claims to be', async () => {
    const headers: RawHeader[] = [
      ['content-type', 'application/json'],
      ['content-encoding', 'gzip'],
    ];
    await expectRejected(gzipSync(BODY), headers);
    await expectRejected(BODY, headers);
    await expectRejected(gzipSync(BODY));
  });

  for (const framing of ['length', 'chunked'] as const) {
    it(`accepts 1 MiB and rejects one byte more (${framing})`, async () => {
      const room = MAX_BODY_BYTES - Buffer.byteLength(bodyAround('""'));
      const statuses: number[] = [];
      for (const length of [room - 1, room, room + 1]) {
        const response = await sendRequest(setup.host.port, {
          method: 'POST',
          target: bridgeTarget('crm', READ),
          headers: [
            ['host', 'localhost'],
            ['authorization', 'Bearer dev-system:root'],
            ['content-type', 'application/json'],
          ],
          body: Buffer.from(bodyAround(`"${'x'.repeat(length)}"`)),
          framing,
        });
        statuses.push(response.status);
        if (response.status !== 200) expectProblem(response, 400);
      }
      expect(statuses).to.deep.equal([200, 200, 400]);
    });
  }

  it('keeps the connection open after a body that is too long', async () => {
    const connection = await RawConnection.open(setup.host.port);
    const headers: RawHeader[] = [
      ['host', 'localhost'],
      ['authorization', 'Bearer dev-system:root'],
    ];
    try {
      connection.write(
        buildRequest({
          method: 'POST',
          target: bridgeTarget('crm', READ),
          headers: [...headers, ['content-type', 'application/json']],
          body: Buffer.alloc(3 * MAX_BODY_BYTES, ' '),
          framing: 'chunked',
        }),
      );
      expectProblem(await connection.read(), 400);
      connection.write(buildRequest({ target: '/livez', headers }));
      expect((await connection.read()).status).to.equal(200);
    } finally {
      connection.destroy();
    }
  });

  for (const length of [MAX_BODY_BYTES + 1, 2 ** 32 + 1]) {
    it(`sends no 100 Continue for a body of ${length} bytes`, async () => {
      const connection = await RawConnection.open(setup.host.port);
      const headers: RawHeader[] = [
        ['host', 'localhost'],
        ['authorization', 'Bearer dev-system:root'],
        ['content-type', 'application/json'],
        ['content-length', `${length}`],
        ['expect', '100-continue'],
      ];
      try {
        const target = bridgeTarget('crm', READ);
        connection.write(buildRequest({ method: 'POST', target, headers }));
        expectProblem(await connection.read(), 400);
      } finally {
        connection.destroy();
      }
    });
  }

  it('rejects many unknown fields quickly and names few of them', async () => {
    const payload = { operation: 'modules_metadata', ...CROWD };
    const crowded = [
      JSON.stringify(bridgeBody({ ...CALL, payload })),
      JSON.stringify({ ...bridgeBody({ ...CALL, payload: METADATA }), ...CROWD }),
    ];
    for (const body of crowded) {
      const startedAt = process.cpuUsage();
      const { errors } = await expectRejected(body);
      expect(errors.length).to.be.within(1, MAX_ERRORS);
      expect(cpuMsSince(startedAt)).to.be.lessThan(2_000 * slowness());
    }
  });

  it('does not send a long name back', async () => {
    const payload = { ...METADATA, ['z'.repeat(100_000)]: 1 };
    const answer = await askBridge(setup.host, { ...CALL, payload });
    expectProblem(answer.response, 400);
    expect(answer.text.length).to.be.lessThan(1_000);
  });

  it('rejects white space past 1 MiB', async () => {
    await expectRejected(BODY + ' '.repeat(MAX_BODY_BYTES + 1 - BODY.length));
  });

  for (const [kind, nest] of [
    ['arrays', nestArrays],
    ['objects', nestObjects],
  ] as const) {
    it(`accepts ${MAX_NESTING} levels of ${kind} and rejects one more`, async () => {
      const passed = await send(bodyAround(nest(MAX_NESTING - LEVELS_AROUND)));
      expect(passed.status, passed.text).to.equal(200);
      await expectRejected(bodyAround(nest(MAX_NESTING - LEVELS_AROUND + 1)));
      await expectRejected(bodyAround(nest(100_000)));
    });
  }

  it(`accepts ${MAX_VALUES} values and rejects one more, with the number`, async () => {
    // The body with its four members, the two of the payload, and the list itself.
    const room = MAX_VALUES - 8;
    const list = (count: number) => `[${'[],'.repeat(count - 1)}{}]`;
    const passed = await send(bodyAround(list(room)));
    expect(passed.status, passed.text).to.equal(200);
    const { detail } = await expectRejected(bodyAround(list(room + 1)));
    expect(detail).to.include(String(MAX_VALUES));
  });

  it('does not count brackets in strings as levels', async () => {
    expect((await send(bodyAround(`"${'['.repeat(5_000)}\\"{"`))).status).to.equal(200);
  });

  for (const vector of readBridgeCorpus<PayloadVector[]>('payloads-refused')) {
    it(`rejects as payload ${vector.title}, and names the field`, async () => {
      const answer = await askBridge(setup.host, { ...CALL, payload: vector.payload });
      const { errors } = expectProblem(answer.response, 400);
      expect(errors.map(({ field }) => field).join()).to.include(vector.field);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  for (const payload of readBridgeCorpus<{ operation: string }[]>('unknown-fields')) {
    const members = Object.keys(payload).join(', ');
    for (const field of ['surplus', '__proto__', 'constructor', 'Operation', '']) {
      it(`rejects the unknown field ${JSON.stringify(field)} beside ${members} (${payload.operation})`, async () => {
        const entries = JSON.stringify(payload).slice(1, -1);
        const text = `{${entries},${JSON.stringify(field)}:1}`;
        const body = JSON.stringify(bridgeBody({ ...CALL, payload: 'PAYLOAD' }));
        await expectRejected(body.replace('"PAYLOAD"', () => text));
      });
    }
  }

  for (const field of ['surplus', '__proto__', 'toString', 'module', 'Payload']) {
    it(`rejects the unknown field ${field} beside the payload`, async () => {
      await expectRejected(`${BODY.slice(0, -1)},"${field}":1}`);
    });
  }

  for (const field of ['permission', 'payload', 'moduleReleaseDigest', 'uiArtifactDigest']) {
    it(`rejects a body whose ${field} is missing, null or a number`, async () => {
      for (const value of [undefined, null, 5]) {
        const call = { ...CALL, payload: METADATA, body: { [field]: value } };
        const { errors } = expectProblem((await askBridge(setup.host, call)).response, 400);
        expect(errors.map((error) => error.field).join()).to.include(field);
      }
    });
  }

  it('prints no value of a rejected body', async () => {
    const value = 'a-value-of-the-caller';
    const payload = { operation: value, entity: value };
    const answer = await askBridge(setup.host, { ...CALL, payload });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.not.include(value);
  });

  describe('other methods and paths', () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE']) {
      it(`answers 404 to ${method} of an authenticated caller`, async () => {
        const hasBody = method === 'PUT' || method === 'PATCH';
        const body = hasBody ? BODY : null;
        const response = await sendBridge(setup.host, CALL, body, method);
        expect(response.status).to.equal(404);
        const unknown = await sendBridge(setup.host, { ...CALL, token: null }, body, method);
        expect(unknown.status).to.equal(401);
      });
    }

    it('answers 404 to a POST one segment deeper or shallower', async () => {
      for (const permission of [`${READ}/more`, '', `${READ}/`]) {
        const call = { permission, token: 'dev-system:root' };
        expect((await sendBridge(setup.host, call, BODY)).status, permission).to.equal(404);
      }
    });
  });
});
