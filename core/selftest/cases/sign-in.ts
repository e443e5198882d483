import type { Attack, Verdict } from '../attack-case.js';
import { sendOnce } from '../expectations.js';
import { headerValue, headerValues, type RawHeader, type ReceivedResponse } from '../raw-http.js';
import { requireOwn, type Scene } from '../scene.js';
import { createCode } from '../sign-in-issuer.js';

const START = '/console/api/oidc/start';
/** More starts than one client may have in progress at an issuer. */
const STARTS = 20;
const REPEATED = 5;
const SAME_ORIGIN: RawHeader = ['sec-fetch-site', 'same-origin'];
/** The cookie of a session, not that of a sign-in in progress. */
const SESSION = /^(?:__Host-)?modgate=[^;]/;

/** The values that the host verifies later. */
interface Begun {
  readonly cookie: string;
  readonly state: string;
  readonly nonce: string;
  readonly callback: string;
}

export const SIGN_IN_CASES: readonly Attack[] = [
  describe('forged', 'an ID token that the issuer did not sign', async (scene) => {
    for (const isForged of [false, true]) {
      const begun = await begin(scene);
      const code = createCode({ nonce: begun.nonce, isForged });
      const isSignedIn = hasSession(await finish(scene, begun, code));
      if (isSignedIn !== isForged) continue;
      return isForged ? 'the forged ID token made a session' : 'the valid ID token made no session';
    }
    return null;
  }),
  describe('state', 'the answer to the sign-in of another browser', async (scene) => {
    const [begun, other] = [await begin(scene), await begin(scene)];
    const code = createCode({ nonce: begun.nonce, isForged: false });
    const answer = await finish(scene, { ...begun, state: other.state }, code);
    if (hasSession(answer)) return 'the answer made a session';
    const count = requireOwn(scene).signIn.countExchanges(code);
    return count === 0 ? null : 'the code was exchanged';
  }),
  describe('replayed', 'one answer of an issuer, again and again', async (scene) => {
    const begun = await begin(scene);
    const code = createCode({ nonce: begun.nonce, isForged: false });
    for (let index = 0; index < REPEATED; index += 1) {
      const isSignedIn = hasSession(await finish(scene, begun, code));
      if (isSignedIn !== (index === 0)) return `answer ${index + 1}: session ${isSignedIn}`;
    }
    const count = requireOwn(scene).signIn.countExchanges(code);
    return count === 1 ? null : `the issuer received ${count} requests with the secret`;
  }),
  describe('slow', 'sign-ins that wait for an issuer leave room for others', async (scene) => {
    const { signIn } = requireOwn(scene);
    const starts = Array.from({ length: STARTS }, () => sendStart(scene, signIn.slowIssuer));
    try {
      const first = await Promise.race(starts);
      if (first.status !== 429) return `the first answer is ${first.status} instead of 429`;
      return await expectTokenSignIn(scene);
    } finally {
      signIn.release();
      await Promise.allSettled(starts);
    }
  }),
];

function describe(name: string, title: string, attack: (scene: Scene) => Promise<Verdict>): Attack {
  return { id: `console-oidc-${name}`, title, attack };
}

async function begin(scene: Scene): Promise<Begun> {
  const { headers } = await sendStart(scene, requireOwn(scene).signIn.issuer);
  const { searchParams } = new URL(headerValue(headers, 'location') ?? '');
  const read = (name: string) => searchParams.get(name) ?? '';
  return {
    cookie: headerValue(headers, 'set-cookie')?.split(';')[0] ?? '',
    state: read('state'),
    nonce: read('nonce'),
    callback: new URL(read('redirect_uri')).pathname,
  };
}

function sendStart(scene: Scene, issuer: string): Promise<ReceivedResponse> {
  return get(scene, `${START}?issuer=${encodeURIComponent(issuer)}`, [SAME_ORIGIN]);
}

/** Returns the response of the issuer to the host. */
function finish(scene: Scene, begun: Begun, code: string): Promise<ReceivedResponse> {
  const target = `${begun.callback}?code=${code}&state=${begun.state}`;
  return get(scene, target, [
    ['cookie', begun.cookie],
    ['sec-fetch-site', 'cross-site'],
  ]);
}

function get(
  scene: Scene,
  target: string,
  headers: readonly RawHeader[],
): Promise<ReceivedResponse> {
  return sendOnce(scene, { target, token: null, headers });
}

function hasSession({ headers }: ReceivedResponse): boolean {
  return headerValues(headers, 'set-cookie').some((cookie) => SESSION.test(cookie));
}

async function expectTokenSignIn(scene: Scene): Promise<Verdict> {
  const response = await sendOnce(scene, {
    ...{ method: 'POST', target: '/console/api/session', token: null, headers: [SAME_ORIGIN] },
    body: JSON.stringify({ token: scene.token }),
  });
  return response.status === 204 ? null : `a sign-in with a token: ${response.status}`;
}
