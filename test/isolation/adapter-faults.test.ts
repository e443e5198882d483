import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { call } from '../support/http/call.js';
import {
  CONTRACT_URL,
  describeKind,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../support/isolation/write-plugin.js';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

/** A line of the secret, which is in all texts. */
const LINE = 'a-secret-line-of-the-adapter';
const SECRET = `-----BEGIN KEY-----\n${LINE}\n-----END KEY-----`;
const AS = 'dev-service:me:any.use,modgate.calls.read,modgate.metrics.read,modgate.modules.read';

interface Fault {
  /** The source of a function of the invocation and the secret. */
  readonly invoke: string;
  readonly failure: string;
  readonly detail: string;
}

/** Streams a body in a way that the contract forbids. */
const pushing = (pushTo: string) =>
  `() => ({ ...ok(), body: { ...NOTHING, pushTo: (sink) => { ${pushTo} } } })`;
const PART = `sink.write(Buffer.from('{"a":1}'))`;
const UNASKED = 'the body of the response was pushed before it was asked for';

const FAULTS: Readonly<Record<string, Fault>> = {
  'returns null': {
    invoke: '() => null',
    failure: 'protocol',
    detail: 'the adapter responded without an outcome',
  },
  'throws a code that the contract does not have': {
    invoke: `() => { throw new ProviderFailure('nonsense', 'no such code'); }`,
    failure: 'protocol',
    detail: 'no such code',
  },
  'throws an object whose getters throw': {
    invoke: `() => { throw { get message() { throw new Error('a getter'); } }; }`,
    failure: 'protocol',
    detail: 'adapter threw a value that is not an error',
  },
  'throws its secret in an error': {
    invoke: `(_invocation, secret) => { throw new Error('401 for ' + secret); }`,
    failure: 'protocol',
    detail: 'adapter threw Error',
  },
  'throws its secret in a failure': {
    invoke: `(_invocation, secret) => { throw new ProviderFailure('protocol', '401 for ' + secret); }`,
    failure: 'protocol',
    detail: '401 for [redacted]',
  },
  'asks for a retry in an endless time': {
    invoke: `() => { throw new ProviderFailure('unavailable', 'it starts', { phase: 'preparing', retryAfterMs: Infinity }); }`,
    failure: 'unavailable',
    detail: 'it starts',
  },
  'pushes a body before it is asked for': {
    invoke: pushing(`${PART}; sink.end(); return FLOW;`),
    failure: 'protocol',
    detail: UNASKED,
  },
  'ends a body before it is asked for': {
    invoke: pushing('sink.end(); return FLOW;'),
    failure: 'protocol',
    detail: UNASKED,
  },
  'pushes a body without a flow': {
    invoke: pushing(''),
    failure: 'protocol',
    detail: 'adapter threw TypeError',
  },
};
const NAMES = Object.keys(FAULTS);

const ENTRY = `import { defineAdapter, ProviderFailure, secretReference } from ${JSON.stringify(CONTRACT_URL)};
import { number, object } from ${JSON.stringify(SUPERSTRUCT_URL)};
const FLOW = { resume() {}, stop() {} };
const NOTHING = { async *[Symbol.asyncIterator]() {} };
const ok = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: null });
const FAULTS = [${NAMES.map((name) => FAULTS[name]?.invoke).join(', ')}];
export default { adapters: [defineAdapter({
  kind: 'faulty',
  config: object({ fault: number(), token: secretReference() }),
  supports: { streams: true },
  describeConfig: () => ({ hostUses: [] }),
  open: ({ fault, token }, context) => {
    const [, secret] = context.secret(token).reveal().split('\\n');
    if (fault < 0) {
      const hint = 'renew that of ' + secret;
      throw Object.assign(new Error('no license for ' + secret), { hint });
    }
    return {
      manifest: async () => Buffer.from('{}'),
      check: async () => {},
      invoke: (invocation) => FAULTS[fault](invocation, secret),
    };
  },
})] };`;

describe('an adapter that breaks the contract', () => {
  const moduleOf = (index: number) => `fault${index}`;
  const describeFault = (index: number) => {
    const provider = { kind: 'faulty', config: { fault: index, token: 'env:FAULTY_TOKEN' } };
    const route = { method: 'GET', path: '/bytes', capability: 'any.use' };
    const bytes = { ...route, operation: { response: 'bytes' } };
    const manifest = {
      protocol: 'modgate.manifest.v1',
      module_id: 'any',
      capabilities: ['any.use'],
      http_routes: [bytes],
    };
    const name = moduleOf(index);
    return describeKind(name, 'faulty', { provider, manifest: { inline: manifest } });
  };

  const plugins = createFolder();
  // Describes each attempt.
  const receiver = use(startOtlpReceiver);
  const host = use(() => {
    writePlugin(plugins, { name: 'faulty', entry: ENTRY });
    return startHostProcess({
      env: { FAULTY_TOKEN: SECRET, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      args: ['--plugins', plugins],
      files: Object.fromEntries(
        [-1, ...NAMES.keys()].map((index) => [`${moduleOf(index)}.json`, describeFault(index)]),
      ),
    });
  });
  const read = async (target: string) =>
    JSON.parse((await call(host, { target, as: AS })).body.toString());

  after(() => {
    expect(host.output()).to.not.include(LINE);
  });

  for (const [index, name] of NAMES.entries()) {
    const { failure, detail } = FAULTS[name] as Fault;
    it(`${name}: each call ends, and the record says why`, async () => {
      const target = `/modules/${moduleOf(index)}/http/bytes`;
      const response = await call(host, { target, as: AS });
      expect(response.status).to.be.oneOf([502, 503]);
      const id = headerValue(response.headers, 'x-request-id');
      const { calls } = await read(`/calls?request_id=${id}`);
      expect(calls[0]).to.include({ failure, failure_detail: detail });
      expect(headerValue(response.headers, 'retry-after') ?? '').to.match(/^\d*$/);
    });
  }

  it('is rejected without a secret that its error names', async () => {
    const { modules } = await read('/modules');
    const module = modules.find((entry: { name: string }) => entry.name === moduleOf(-1));
    expect(module).to.include({
      state: 'refused',
      reason: 'no license for [redacted]',
      hint: 'renew that of [redacted]',
    });
  });

  it('adds no value to the label of the failures', async () => {
    const { body } = await call(host, { target: '/metrics', as: AS });
    expect(String(body)).to.include('failure="protocol"').and.not.include('nonsense');
  });
});
