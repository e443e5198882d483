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
} from '../../support/console/fake-context.js';

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
    const sessions = new Sessions(context);
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
    const response = live.open(session, cookie, false, call);
    meanwhile();
    return response.text();
  };

  it('ends with the credentials of its session, and says so', async () => {
    expect(await readStream()).to.contain('event: session\ndata: {"ended":"expired"}');
    expect(Date.now()).to.be.at.least(expiresAt);
  });

  it('ends with the credentials of its session also while the store does not answer', async () => {
    const text = await readStream(() => {
      context.records.get = () => Promise.reject(new SurfaceError('unavailable', 'no store'));
    });
    expect(text).to.contain('event: session\ndata: {"ended":"expired"}');
    expect(Date.now()).to.be.at.least(expiresAt);
  });

  it('is closed when its client has left before it opens', async () => {
    context.actors.set('token', createActor('ann'));
    expect(await readStream(() => {}, AbortSignal.abort())).not.to.contain('ended');
  });
});
