import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { any, defaulted, object, string, type } from 'superstruct';
import {
  defineSigner,
  type Secret,
  type Signer,
  secretReference,
} from '../../core/contract/index.js';
import { SIGNING } from '../../core/testkit/clauses/signing.js';
import {
  defineSignerSubject,
  runSignerClauses,
  type SignerSubject,
  signerSuite,
} from '../../core/testkit/index.js';

const KEY = 'a key for tests';
const config = object({ key: secretReference() });

const createSigner = (secret: Secret): Signer => ({
  sign: ({ method, url, bodySha256 }) => {
    const text = [method, url, bodySha256].join(' ');
    return { Authorization: createHmac('sha256', secret.reveal()).update(text).digest('hex') };
  },
});

const REQUEST = {
  method: 'GET',
  url: 'https://provider.example/items',
  headers: new Map(),
  bodySha256: null,
};

const GOOD = defineSignerSubject({
  signer: defineSigner({
    name: 'good',
    config,
    open: ({ key }: { key: string }, context) => createSigner(context.secret(key)),
  }),
  config: { key: 'env:KEY' },
  references: { secrets: { 'env:KEY': KEY } },
  vectors: [
    {
      request: REQUEST,
      headers: {
        authorization: createHmac('sha256', KEY).update(`GET ${REQUEST.url} `).digest('hex'),
      },
    },
  ],
});

signerSuite(GOOD);

const timers: NodeJS.Timeout[] = [];
const signing = (sign: Signer['sign']): Partial<SignerSubject> => ({
  signer: defineSigner({ name: 'bad', config, open: () => ({ sign }) }),
});
const late = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const MUTANTS: readonly {
  readonly clause: string;
  readonly defect: string;
  readonly change: Partial<SignerSubject>;
}[] = [
  {
    clause: 'signer.declaration',
    defect: 'is for another contract version',
    change: { signer: { ...GOOD.signer, contract: 2 as 1 } },
  },
  {
    clause: 'signer.name',
    defect: 'has an empty name',
    change: { signer: defineSigner({ ...GOOD.signer, name: '' }) },
  },
  {
    clause: 'signer.config',
    defect: 'accepts every config',
    change: { signer: defineSigner({ ...GOOD.signer, config: any() }) },
  },
  {
    clause: 'signer.config',
    defect: 'accepts every key beside one with a default',
    change: {
      signer: defineSigner({
        ...GOOD.signer,
        config: type({ key: secretReference(), ttl: defaulted(string(), '1') }),
      }),
    },
  },
  {
    clause: 'signer.open',
    defect: 'never opens',
    change: { signer: defineSigner({ name: 'bad', config, open: () => new Promise(() => {}) }) },
  },
  {
    clause: 'signer.headers',
    defect: 'sets the host',
    change: signing(() => ({ host: 'elsewhere' })),
  },
  {
    clause: 'signer.headers',
    defect: 'returns a line break',
    change: signing(() => ({ 'x-a': 'b\nc' })),
  },
  {
    clause: 'signer.headers',
    defect: 'throws for a body that flows',
    change: signing(({ bodySha256 }) => ({ 'x-a': (bodySha256 as string).toUpperCase() })),
  },
  {
    clause: 'signer.time',
    defect: 'takes more than a second',
    change: signing(async () => {
      await late(1_050);
      return {};
    }),
  },
  {
    clause: 'signer.covers',
    defect: 'does not sign the method',
    change: signing(({ url }) => ({ 'x-a': url })),
  },
  {
    clause: 'signer.covers',
    defect: 'does not sign the URL',
    change: signing(({ method }) => ({ 'x-a': method })),
  },
  {
    clause: 'signer.vectors',
    defect: 'signs otherwise',
    change: signing(({ method, url }) => ({ authorization: method + url })),
  },
  {
    clause: 'signer.no-secrets',
    defect: 'keeps its key',
    change: {
      signer: defineSigner({
        name: 'bad',
        config,
        open: ({ key }: { key: string }, context) => {
          const signer = createSigner(context.secret(key));
          return { ...signer, key: context.secret(key).reveal() };
        },
      }),
    },
  },
  {
    clause: 'signer.handles',
    defect: 'leaks a timer',
    change: signing(() => {
      timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
];

describe('signer clauses', () => {
  afterEach(() => {
    for (const timer of timers.splice(0)) clearInterval(timer);
  });

  for (const { clause, defect, change } of MUTANTS) {
    it(`${clause} catches a signer that ${defect}`, async () => {
      const subject = { ...GOOD, timeoutMs: 2_000, ...change };
      const [result, ...others] = await runSignerClauses(subject, { only: [clause] });
      expect(others).to.deep.equal([]);
      expect(result?.status, `${result?.reason}`).to.equal('fail');
    });
  }

  it('have at least one mutant each', () => {
    const caught = new Set(MUTANTS.map(({ clause }) => clause));
    expect(SIGNING.map(({ id }) => id).filter((id) => !caught.has(id))).to.deep.equal([]);
  });
});
