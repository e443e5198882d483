import { expect } from 'chai';
import { SurfaceError } from '../../../core/contract/index.js';
import type { HostFeed } from '../../../plugins/console/live/host-feed.js';
import { LiveEvents } from '../../../plugins/console/live/live-events.js';
import { Sessions } from '../../../plugins/console/sessions/sessions.js';
import { createRecordedLog } from '../../support/auth/recorded-log.js';
import {
  CALL,
  createActor,
  createFakeContext,
  type FakeContext,
  NO_ISSUERS,
} from '../../support/console/fake-context.js';
import { waitUntil } from '../../support/http/wait-until.js';

const NONE = { calls: false, approvals: false };

describe('a stream of the console', () => {
  let context: FakeContext;
  let expiresAt: number;

  beforeEach(() => {
    context = createFakeContext();
    context.now = Date.now();
    expiresAt = context.now + 200;
    context.actors.set('token', { ...createActor('ann'), expiresAt });
  });

  /** @param meanwhile called when the stream is open */
  const readStream = async (
    meanwhile: () => void = () => {},
    signal = new AbortController().signal,
  ): Promise<string> => {
    const sessions = new Sessions(context, NO_ISSUERS);
    const cookie = (await sessions.begin('token', 'token', CALL)) ?? '';
    const session = await sessions.find(cookie, true, CALL);
    if (session === null) throw new Error('no session');
    const live = new LiveEvents({
      sessions,
      feed: { follow: () => () => {} } as unknown as HostFeed,
      host: { request: async () => new Response() },
      log: createRecordedLog().log,
      version: '0.0.0',
    });
    const call = { ...CALL, signal };
    const response = live.open(session, cookie, NONE, call);
    meanwhile();
    return response.text();
  };

  it('ends with the credentials of its session, and says so', async () => {
    expect(await readStream()).to.contain('event: session\ndata: {"ended":"expired"}');
    expect(Date.now()).to.be.at.least(expiresAt);
  });

  it('says that its session has expired where the store has already removed it', async () => {
    const text = await readStream(() => context.stored.clear());
    expect(text).to.contain('event: session\ndata: {"ended":"expired"}');
  });

  it('ends with the credentials of its session also while the store does not answer', async () => {
    const text = await readStream(() => {
      context.records.get = () => Promise.reject(new SurfaceError('unavailable', 'no store'));
    });
    expect(text).to.contain('event: session\ndata: {"ended":"expired"}');
    expect(Date.now()).to.be.at.least(expiresAt);
  });

  it('gets new calls that are read once for all streams, in the order of their times', async () => {
    context.actors.set('token', createActor('ann', 'modgate.calls.read'));
    context.actors.set('token-of-bob', createActor('bob'));
    const sessions = new Sessions(context, NO_ISSUERS);
    let requests = 0;
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    const [first, second] = [
      { at: at(60_000), request_id: 'a' },
      { at: at(60_001), request_id: 'b' },
    ];
    const live = new LiveEvents({
      sessions,
      feed: { follow: () => () => {} } as unknown as HostFeed,
      host: {
        request: async () => {
          requests += 1;
          return Response.json({ calls: [second, first, { at: at(-9000), request_id: 'old' }] });
        },
      },
      log: createRecordedLog().log,
      version: '0.0.0',
    });
    const abort = new AbortController();
    const open = async (token: string) => {
      const cookie = (await sessions.begin(token, 'token', CALL)) ?? '';
      const session = await sessions.find(cookie, true, CALL);
      if (session === null) throw new Error('no session');
      return live.open(
        session,
        cookie,
        { ...NONE, calls: true },
        { ...CALL, signal: abort.signal },
      );
    };
    const texts: string[] = [];
    const tokens = ['token-of-bob', 'token', 'token', 'token'];
    const reading = tokens.map(async (token, index) => {
      const { body } = await open(token);
      for await (const chunk of body ?? []) {
        texts[index] = (texts[index] ?? '') + new TextDecoder().decode(chunk);
      }
    });
    await waitUntil('the calls', () => /event: calls/.test(texts[3] ?? ''));
    expect(requests).to.equal(1);
    expect(texts[0]).not.to.contain('event: calls');
    const sent = `event: calls\ndata: ${JSON.stringify({ calls: [first, second] })}\n\n`;
    for (const text of texts.slice(1)) expect(text).to.contain(sent);
    abort.abort();
    await Promise.all(reading);
  });

  it('is closed when its client has left before it opens', async () => {
    context.actors.set('token', createActor('ann'));
    expect(await readStream(() => {}, AbortSignal.abort())).not.to.contain('ended');
  });
});
