import { expect } from 'chai';
import { unknown } from 'superstruct';
import {
  defineSurface,
  type Surface,
  type SurfaceCall,
  SurfaceError,
} from '../../../core/contract/index.js';
import { HostError } from '../../../core/errors.js';
import { MountedSurface } from '../../../core/http/surfaces/mounted-surface.js';
import { createFakeLog, createFakeSurfaceContext } from '../../../core/testkit/index.js';
import { waitUntil } from '../../support/http/wait-until.js';

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

function mount(
  open: () => Surface | Promise<Surface>,
  log = createFakeLog(),
  authentication: 'host' | 'own' = 'host',
): MountedSurface {
  const named = { name: 'desk', prefix: '/desk', authentication };
  const factory = defineSurface({ ...named, config: unknown(), open });
  const { host } = createFakeSurfaceContext();
  const choice = { name: 'desk', enabled: true, config: {}, directory: '.' };
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
});
