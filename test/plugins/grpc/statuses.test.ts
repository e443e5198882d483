import { create, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { anyPack, DurationSchema } from '@bufbuild/protobuf/wkt';
import { Metadata } from '@grpc/grpc-js';
import { expect } from 'chai';
import { knownMessage } from '../../../plugins/grpc/known-types.js';
import { CODES } from '../../../plugins/grpc/statuses.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';
import { createCaller, describeLibrary } from './library-module.js';
import { Failed, startLibrary } from './library-server.js';

const ROUTES = [{ method: 'POST', path: '/fail', operation: { grpc: 'library.v1.Echo/Fail' } }];

/** The statuses of HTTP under passthrough; without one it is 502 `status`. */
const PASSED: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  OUT_OF_RANGE: 400,
  FAILED_PRECONDITION: 400,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
};
const FAILURES: Readonly<Record<string, string>> = {
  UNAVAILABLE: 'unavailable',
  DEADLINE_EXCEEDED: 'timeout',
};

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly field: string; readonly reason: string }[];
}

for (const mode of ['problem', 'passthrough']) {
  describe(`statuses of gRPC under provider_errors: ${mode}`, () => {
    const server = use(() =>
      startLibrary({
        Fail: ({ request }) => {
          const { code = 0, message = '' } = request as { code?: number; message?: string };
          throw new Failed({ code, details: message, metadata: new Metadata() });
        },
      }),
    );
    const host = use(() => {
      const files = describeLibrary(ROUTES, server.url, {
        provider_errors: mode,
        breaker: { failures: 100 },
      });
      return startHost({ files });
    });

    const fail = async (code: number, message: string) => {
      const body = JSON.stringify({ code, message });
      const response = await createCaller(host.url)('/fail', { method: 'POST', body });
      return { ...response, problem: JSON.parse(response.text) as Problem };
    };

    for (const [code, name] of CODES.entries()) {
      if (name === 'OK') continue;
      it(`answers ${name} by the table`, async () => {
        const message = 'Größe 100% unknown';
        const { status, problem } = await fail(code, message);
        const passed = mode === 'passthrough' ? PASSED[name] : undefined;
        expect(status).to.equal(passed ?? 502);
        if (passed !== undefined) {
          expect(problem.code).to.equal('provider_error');
          expect(problem.detail).to.equal(message);
          return;
        }
        expect(problem.detail).to.not.include('Größe');
        const failure = problem.errors.find(({ field }) => field === 'failure')?.reason;
        expect(failure).to.equal(FAILURES[name] ?? 'status');
      });
    }

    it('sends a call that UNAVAILABLE ends once', async () => {
      const before = server.calls.length;
      await fail(14, 'no');
      expect(server.calls.length - before).to.equal(1);
    });
  });
}

describe('details of a status', () => {
  let code = 8;
  let details: readonly JsonValue[] = [];
  let pushback = '';

  const server = use(() =>
    startLibrary({
      Fail: () => {
        const metadata = new Metadata();
        const status = create(knownMessage('google.rpc.Status'));
        Object.assign(status, { code, message: 'slow down', details: details.map(pack) });
        const bytes = toBinary(knownMessage('google.rpc.Status'), status);
        metadata.set('grpc-status-details-bin', Buffer.from(bytes));
        if (pushback !== '') metadata.set('grpc-retry-pushback-ms', pushback);
        throw new Failed({ code, details: 'slow down', metadata });
      },
    }),
  );
  const host = use(() => {
    const files = describeLibrary(ROUTES, server.url, {
      provider_errors: 'passthrough',
      breaker: { failures: 100 },
    });
    return startHost({ files });
  });

  /** An Any of a known message, or of one that nobody describes. */
  const pack = (json: JsonValue) => {
    const { type, ...values } = json as { type: string };
    const known = type === 'google.rpc.Unknown' ? undefined : knownMessage(type);
    if (known === undefined) {
      return { $typeName: 'google.protobuf.Any', typeUrl: `t/${type}`, value: new Uint8Array([1]) };
    }
    return anyPack(known, Object.assign(create(known), values));
  };

  it('become errors and retry-after, without those of unknown messages', async () => {
    const violation = Object.assign(create(knownMessage('google.rpc.BadRequest.FieldViolation')), {
      field: 'book.title',
      description: 'is missing',
    });
    details = [
      { type: 'google.rpc.BadRequest', fieldViolations: [violation] } as never,
      { type: 'google.rpc.Unknown' },
      {
        type: 'google.rpc.RetryInfo',
        retryDelay: create(DurationSchema, { seconds: 3n }),
      } as never,
      { type: 'google.rpc.ErrorInfo', reason: 'QUOTA', domain: 'library' },
    ];
    const response = await createCaller(host.url)('/fail', { method: 'POST', body: '{}' });
    expect(response.status, response.text).to.equal(429);
    expect(response.headers.get('retry-after')).to.equal('3');
    const { errors } = JSON.parse(response.text) as Problem;
    expect(errors).to.deep.include({ field: 'book.title', reason: 'is missing' });
    expect(errors).to.deep.include({
      field: 'google.rpc.ErrorInfo',
      reason: '{"reason":"QUOTA","domain":"library"}',
    });
    expect(JSON.stringify(errors)).to.not.include('Unknown');
  });

  it('say when to call again, for a status that is not passed on too', async () => {
    const retryDelay = create(DurationSchema, { seconds: 3n });
    const info = { type: 'google.rpc.RetryInfo', retryDelay } as never;
    for (const [given, milliseconds, expected] of [
      [[info], '', '3'],
      [[info], '7000', '3'],
      [[], '6500', '7'],
      [[], '0', '1'],
      [[], '-1', null],
      [[], '', null],
    ] as const) {
      for (const [next, status] of [
        [8, 429],
        [14, 502],
      ] as const) {
        [code, details, pushback] = [next, given, milliseconds];
        const response = await createCaller(host.url)('/fail', { method: 'POST', body: '{}' });
        expect(response.status, response.text).to.equal(status);
        expect(response.headers.get('retry-after')).to.equal(expected);
        if (status === 429) continue;
        const wait = expected === null ? 'later' : 'after the time in retry-after';
        const { next_actions } = JSON.parse(response.text) as { next_actions: string[] };
        expect(next_actions).to.deep.equal([`try again ${wait}`]);
      }
    }
  });
});
