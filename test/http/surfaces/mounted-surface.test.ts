import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { object, optional } from 'superstruct';
import {
  defineSurface,
  type Surface,
  type SurfaceCall,
  SurfaceError,
  type SurfaceFactory,
  secretReference,
} from '../../../core/contract/index.js';
import { HostError } from '../../../core/errors.js';
import { MountedSurface } from '../../../core/http/surfaces/mounted-surface.js';
import { createFakeLog, createFakeSurfaceContext } from '../../../core/testkit/index.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { createFolder } from '../../support/temporary-folder.js';

const LIMITS = { openMs: 20, responseMs: 20, calls: 2, callsOfNetwork: 2 };

const CALL: SurfaceCall = {
  requestId: 'r',
  correlationId: 'c',
  target: '/desk',
  signal: new AbortController().signal,
  actor: null,
  origin: null,
  isSameOrigin: false,
  isListedOrigin: false,
  network: '127.0.0.1',
};

const CONFIG = object({ key: optional(secretReference()) });

function mount(
  open: SurfaceFactory<{ key?: string | undefined }>['open'],
  log = createFakeLog(),
  authentication: 'host' | 'own' = 'host',
  config = {},
): MountedSurface {
  const named = { name: 'desk', prefix: '/desk', authentication };
  const factory = defineSurface({ ...named, config: CONFIG, open }) as SurfaceFactory;
  const { host } = createFakeSurfaceContext();
  const choice = { name: 'desk', enabled: true, config, directory: '.' };
  const unused = () => Promise.reject(new Error('unused'));
  return new MountedSurface({ factory, plugin: 'acme', isShipped: false }, choice, {
    log,
    chain: [],
    authFailures: null,
    issuers: [],
    actorRate: null,
    store: { surfaceRecords: { get: unused, set: unused, delete: unused, list: unused } },
    server: { accept: () => {} },
    resources: [],
    modules: host,
    limits: LIMITS,
  });
}

const never = () => new Promise<never>(() => {});

function rejectionOf(surface: MountedSurface): Promise<unknown> {
  return surface.fetch(new Request('http://localhost/desk'), CALL, null).then(
    () => null,
    (error: unknown) => error,
  );
}

describe('a surface of a plugin', () => {
  it('fails when it does not open in time, and the host responds instead', async () => {
    const log = createFakeLog();
    const surface = mount(never, log);
    await surface.open();
    expect(surface.status).to.include({ state: 'failed', reason: 'it did not open within 20 ms' });
    expect(log.lines.map(({ message }) => message)).to.deep.equal(['surface failed']);
    expect(await rejectionOf(surface))
      .to.be.instanceOf(HostError)
      .and.include({ status: 503 });
  });

  it('names the actor of a request before its body is read', async () => {
    const actor = Object.freeze({ kind: 'user' as const, id: 'ann', scopes: new Set<string>() });
    const calls: SurfaceCall[] = [];
    const open = () => ({
      fetch: async () => new Response('ok'),
      identify: async (request: Request, call: SurfaceCall) => {
        calls.push(call);
        return request.headers.has('cookie') ? copy : null;
      },
    });
    const surface = mount(open, createFakeLog(), 'own');
    const copy = surface.addActor(actor);
    await surface.open();
    const identify = (headers: Record<string, string>) =>
      surface.admit(new Request('http://localhost/desk', { headers }), CALL);
    expect(await identify({ cookie: 'a=1' })).to.equal(actor);
    expect(await identify({})).to.equal(null);
    expect(calls).to.deep.equal([CALL, CALL]);
  });

  it('rejects a request by its head, with a Problem of its own', async () => {
    for (const authentication of ['host', 'own'] as const) {
      const open = () => ({
        fetch: async () => new Response('ok'),
        admit: () => {
          throw new SurfaceError('forbidden', 'the desk is closed');
        },
      });
      const surface = mount(open, createFakeLog(), authentication);
      await surface.open();
      const error = await surface.admit(new Request('http://localhost/desk'), CALL).catch(String);
      expect(error).to.match(/the desk is closed/);
    }
  });

  it('fails when it opens as something else', async () => {
    const surface = mount(() => ({}) as Surface);
    await surface.open();
    expect(surface.status.reason).to.equal("'open' must return an object with a function 'fetch'");
  });

  it('is 503 for a request that it does not answer in time', async () => {
    const surface = mount(() => ({ fetch: never }));
    await surface.open();
    expect(await rejectionOf(surface))
      .to.be.instanceOf(HostError)
      .and.include({ status: 503 });
  });

  it('has the body of a late response canceled', async () => {
    let isCanceled = false;
    let answer: (response: Response) => void = () => {};
    const late = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const surface = mount(() => ({ fetch: () => late }));
    await surface.open();
    await rejectionOf(surface);
    const cancel = () => {
      isCanceled = true;
    };
    answer(new Response(new ReadableStream({ cancel })));
    await waitUntil('the body is canceled', () => isCanceled);
  });

  it('is 503 above its limit of requests', async () => {
    const surface = mount(() => ({ fetch: never }));
    await surface.open();
    const waiting = [rejectionOf(surface), rejectionOf(surface)];
    const rejected = (await rejectionOf(surface)) as HostError;
    expect(rejected.detail).to.equal('the surface has too many requests');
    await Promise.all(waiting);
    expect(((await rejectionOf(surface)) as HostError).detail).to.contain('in time');
  });

  it('is an internal error when it throws at once, and serves the next request', async () => {
    let isFirst = true;
    const fetch = () => {
      if (!isFirst) return Promise.resolve(new Response('text'));
      isFirst = false;
      throw new Error('a secret detail');
    };
    const surface = mount(() => ({ fetch }));
    await surface.open();
    const error = (await rejectionOf(surface)) as HostError;
    expect(error).to.include({ status: 500 });
    expect(error.detail).to.not.contain('secret');
    expect(await rejectionOf(surface)).to.equal(null);
  });

  it('is an internal error for a response that was read already', async () => {
    const read = async () => {
      const response = new Response('text');
      await response.text();
      return response;
    };
    const surface = mount(() => ({ fetch: read }));
    await surface.open();
    expect(await rejectionOf(surface))
      .to.be.instanceOf(HostError)
      .and.include({ status: 500 });
  });

  describe('that repeats a secret of its config', () => {
    const SECRET = 'the-key-of-an-account';
    const file = join(createFolder(), 'key');
    const config = { key: `file:${file}` };
    beforeEach(() => writeFileSync(file, SECRET));

    const THROWN: Readonly<Record<string, (secret: string) => unknown>> = {
      'an error': (secret) => new Error(`no account for ${secret}`),
      'an error whose cause has it': (secret) =>
        new Error('no account', { cause: new Error(`postgres://u:${secret}@h`) }),
      'a text': (secret) => `no account for ${secret}`,
      'an error whose message is no text': (secret) =>
        Object.assign(new Error(), { message: { secret } }),
    };
    for (const [name, create] of Object.entries(THROWN)) {
      it(`is masked where it throws ${name} while it opens`, async () => {
        const log = createFakeLog();
        const open: Parameters<typeof mount>[0] = ({ key = '' }, context) => {
          throw create(context.secret(key).reveal());
        };
        const surface = mount(open, log, 'host', config);
        await surface.open();
        expect(surface.status.state).to.equal('failed');
        const [line] = log.lines;
        expect(line?.message).to.equal('surface failed');
        expect(inspect([log.lines, surface.status], { depth: 9 })).to.not.include(SECRET);
        await surface.close();
      });
    }

    it('is masked in all lines of its log, also after a change of its file', async () => {
      const log = createFakeLog();
      let reveal = () => '';
      const open: Parameters<typeof mount>[0] = ({ key = '' }, context) => {
        reveal = () => context.secret(key).reveal();
        const fetch = () => {
          context.log.info({ account: reveal() }, `it opens ${SECRET}`);
          throw new Error(`401 for ${reveal()}`);
        };
        return { fetch };
      };
      const surface = mount(open, log, 'host', config);
      await surface.open();
      await rejectionOf(surface);
      writeFileSync(file, 'another-key-of-it');
      await waitUntil('the new key', () => reveal() !== SECRET);
      await rejectionOf(surface);
      await surface.close();
      const linesOf = (message: string) => log.lines.filter((line) => line.message === message);
      expect(linesOf('it opens [redacted]').map(({ fields }) => fields['account'])).to.deep.equal([
        '[redacted]',
        '[redacted]',
      ]);
      expect(linesOf('surface request failed')).to.have.length(2);
      expect(inspect(log.lines, { depth: 9 }))
        .to.not.include(SECRET)
        .and.not.include('another-key');
    });
  });
});
