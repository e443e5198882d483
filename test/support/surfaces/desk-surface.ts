import { CONTRACT_URL, SUPERSTRUCT_URL } from '../isolation/write-plugin.js';

/**
 * The source of a plugin with the surfaces `desk` (the host authenticates) and `till` (it authenticates by
 * itself). What each does is the last segment of the path.
 */
export const DESK_ENTRY = `import { defineSurface, SurfaceError } from ${JSON.stringify(CONTRACT_URL)};
import { object, optional, string } from ${JSON.stringify(SUPERSTRUCT_URL)};
const encoder = new TextEncoder();
const endless = (text, headers = {}) => {
  let canceled = 0;
  return new Response(new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(text)),
    cancel: () => { counts.canceled += 1; },
  }), { headers });
};
const counts = { canceled: 0, aborted: 0, changes: 0, isWaiting: false };
const answers = {
  whoami: ({ call }) => Response.json({
    actor: call.actor && { ...call.actor, scopes: [...call.actor.scopes] },
    frozen: Object.isFrozen(call.actor ?? {}),
    origin: call.origin,
    isSameOrigin: call.isSameOrigin,
    ids: [call.requestId, call.correlationId],
  }),
  echo: async ({ request, call }) => Response.json({
    method: request.method,
    url: request.url,
    target: call.target,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  }),
  throw: () => { throw new Error('a secret detail'); },
  reject: async () => { throw new SurfaceError('conflict', 'the desk is taken', {
    errors: [{ field: 'desk', reason: 'taken' }], nextActions: ['choose another'],
  }); },
  challenge: () => { throw new SurfaceError('unauthorized', 'sign in', {
    headers: { 'www-authenticate': 'Session' },
  }); },
  uncaught: () => { setTimeout(() => { throw new Error('uncaught'); }, 1); return new Response('ok'); },
  unhandled: () => { void Promise.reject(new Error('unhandled')); return new Response('ok'); },
  onabort: ({ call }) => new Promise(() => {
    counts.isWaiting = true;
    call.signal.addEventListener('abort', () => {
      counts.isWaiting = false;
      throw new Error('in a listener');
    });
  }),
  cancelthrows: ({ call }) => new Response(new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode('part')),
    pull: () => new Promise(() => {}),
    cancel: () => { setTimeout(() => { throw new Error('after the stream'); }, 1); throw new Error('in cancel'); },
  })),
  nothing: () => undefined,
  hang: ({ call }) => new Promise(() => { call.signal.onabort = () => { counts.aborted += 1; }; }),
  counts: () => Response.json(counts),
  headers: () => new Response('body', { status: 201, headers: [
    ['set-cookie', 'a=1'], ['set-cookie', 'b=2'], ['connection', 'close'], ['x-request-id', 'mine'],
    ['cache-control', 'max-age=1'], ['x-own', 'yes'],
  ] }),
  missing: () => new Response('none', { status: 404 }),
  teapot: () => new Response('none', { status: 418 }),
  empty: () => new Response(null, { status: 204 }),
  wronglength: () => new Response('four', { headers: { 'content-length': '2' } }),
  cut: () => new Response(new ReadableStream({
    start: (controller) => {
      controller.enqueue(encoder.encode('part'));
      setTimeout(() => controller.error(new Error('cut')), 5);
    },
  })),
  late: ({ call }) => new Promise((resolve) => {
    counts.isWaiting = true;
    call.signal.addEventListener('abort', () => {
      counts.isWaiting = false;
      setTimeout(() => resolve(endless('late')), 5);
    });
  }),
  events: () => endless(': open\\n\\n', { 'content-type': 'text/event-stream' }),
  // {method, target, headers, body} as JSON, for the caller of this request.
  door: async ({ request, call, context }) => {
    const response = await context.host.request(call.actor, await request.json());
    return Response.json({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    });
  },
  // Waits for another request, then passes on the 403 of the host.
  refused: async ({ call, context }) => {
    counts.isEarly = true;
    while (!counts.isWaiting) await new Promise((resolve) => setTimeout(resolve, 5));
    const headers = { 'x-request-id': call.requestId };
    return context.host.request(call.actor, { target: '/metrics', headers, call });
  },
  forged: async ({ call, context }) => {
    const forged = [
      { ...call.actor }, Object.create(call.actor), null,
      { kind: 'system', id: 'root', scopes: new Set() },
    ];
    const results = [];
    for (const actor of forged) {
      results.push(await context.host.request(actor, { target: '/modules' }).catch((error) => error.name));
    }
    call.actor.scopes.add('modgate.modules.read');
    const { status } = await context.host.request(call.actor, { target: '/modules' });
    return Response.json({ results, status });
  },
  login: async ({ request, context }) => {
    const actor = await context.authenticate({ scheme: 'bearer', token: await request.text() });
    if (actor === null) return new Response('no', { status: 200 });
    const { status } = await context.host.request(actor, { target: '/modules' });
    return Response.json({ id: actor.id, status });
  },
  // [name, ...arguments] as JSON.
  records: async ({ request, context }) => {
    const [name, ...values] = await request.json();
    try {
      return Response.json((await context.records[name](...values)) ?? null);
    } catch (error) {
      return Response.json({ error: error.name, code: error.code ?? null, message: error.message });
    }
  },
  snapshot: async ({ context }) => Response.json(await context.host.snapshot()),
};
const surface = (name, more) => defineSurface({
  name,
  prefix: '/' + name,
  config: object({ greeting: optional(string()) }),
  ...more,
  open: (config, context) => {
    // Affects neither the host nor the listener after it.
    context.host.onChange(() => { throw new Error('listener failed'); });
    context.host.onChange(() => { counts.changes += 1; });
    return {
      fetch: async (request, call) => {
        const action = new URL(request.url).pathname.split('/')[2] ?? 'whoami';
        const answer = answers[action];
        if (answer === undefined) throw new SurfaceError('not_found', 'the desk has no such page');
        return answer({ request, call, context });
      },
    };
  },
});
export default { surfaces: [surface('desk', {}), surface('till', { authentication: 'own' })] };
`;
