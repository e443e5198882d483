import { createCloseFrame } from '../../../core/lib/websocket/close-frame.js';
import { CLOSE_CODES } from '../../../core/lib/websocket/frame-scanner.js';
import {
  AttackFailure,
  expectClosed,
  expectDisconnect,
  expectNoSecrets,
  parseObject,
  withConnection,
} from '../../../core/selftest/expectations.js';
import {
  headerValue,
  type RawConnection,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import type { ReceivedRequest } from '../../support/provider.js';
import type { Attack, CraftedRequest, Verdict } from '../attack.js';
import { checkLate, craftRequest, sendOnce, waitFor } from '../expectations.js';
import { ALLOWED_ORIGIN, SESSION_COOKIE } from '../plugins.js';
import { listReceived, readHeader, type Scene } from '../scene.js';
import {
  CHOICES,
  HOSTILE_FRAMES,
  type HostileFrame,
  writeFlood,
  writeFrame,
} from '../servers/websocket-scripts.js';
import { expectUnreadStreamToEnd } from './streams.js';

const OWN_PROTOCOL = 'modgate.v1';
/** The host allows 10 s for a head, or closes after seconds of silence; the rest is for a busy machine. */
const CLOSE_DEADLINE_MS = 20_000;
const FRAME_DEADLINE_MS = 5000;
const CLOSE_FRAME_BYTES = 4;
const FLOOD_BYTES = 64 * 1024 * 1024;
/** The buffers of both connections hold less than the other half. */
const UNREAD_BYTES = FLOOD_BYTES / 2;

const targetOf = (path: string, module = 'sockets') => `/modules/${module}/http${path}`;
const encode = (token: string | null) => Buffer.from(token ?? '').toString('base64url');
/** A vulnerable host would forward it to the provider. */
const HIDDEN = '/items?hidden';

const HANDSHAKE: Readonly<Record<string, string>> = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

interface HandshakeParts extends Pick<CraftedRequest, 'token' | 'as' | 'body'> {
  readonly path: string;
  readonly module?: string;
  /** Headers that replace or extend those of a handshake. */
  readonly headers?: Readonly<Record<string, string>>;
}

function craftHandshake(scene: Scene, parts: HandshakeParts): Buffer {
  const { path, module, headers = {}, ...rest } = parts;
  const all = Object.entries({ ...HANDSHAKE, ...headers });
  return craftRequest(scene, { target: targetOf(path, module), headers: all, ...rest });
}

/** Sends a token only among the subprotocols. */
const offer = (...protocols: string[]) => ({
  token: null,
  headers: { 'sec-websocket-protocol': protocols.join(', ') },
});
const bearer = ({ token }: Scene, prefix = 'modgate.bearer.') => prefix + encode(token);

export const WEBSOCKET_CASES: readonly Attack[] = [
  expectIgnored('declined', 'a request behind a handshake that the provider declines', 502, () => ({
    path: '/declined',
  })),
  expectIgnored('accept', 'an invalid 101 of a provider, followed by a response', 502, () => ({
    path: '/accept',
  })),
  expectIgnored('anonymous', 'a request behind a handshake without credentials', 401, () => ({
    path: '/open',
    token: null,
  })),
  expectIgnored('version', 'a request behind a handshake of another version', 426, () => ({
    path: '/open',
    headers: { 'sec-websocket-version': '777' },
  })),
  expectIgnored('h2c', 'a request behind an upgrade to HTTP/2 with a body', 426, (scene) => ({
    path: '/open',
    headers: { upgrade: 'h2c', 'http2-settings': 'AAMA' },
    body: craftHidden(scene),
  })),
  describe('opened', 'a request behind a handshake that opens a WebSocket', async (scene) => {
    const verdict = await expectRejectedFrame(scene, craftHidden(scene), '/open');
    return verdict ?? expectHiddenUncalled(scene);
  }),
  rejectHandshake('head-large', 'a handshake with a long list of subprotocols', 431, () => ({
    path: '/open',
    headers: { 'sec-websocket-protocol': 'a'.repeat(20 * 1024) },
  })),
  wait('head-endless', 'a handshake that never ends', (scene) =>
    withConnection(scene, (connection) => {
      connection.write(craftHandshake(scene, { path: '/endless-client' }).subarray(0, -2));
      return expectDisconnect(connection, CLOSE_DEADLINE_MS, 'x-a: b\r\n');
    }),
  ),
  wait('head-provider', 'an answer to a handshake whose head never ends', async (scene) => {
    await sendOnce(scene, craftHandshake(scene, { path: '/endless' }), 502);
    return null;
  }),
  ...HOSTILE_FRAMES.flatMap((frame) => [
    describe(`client-${frame.name}`, `${frame.title}, from a client`, (scene) =>
      expectRejectedFrame(scene, writeFrame(frame, 'client'), '/frames', frame.code),
    ),
    describe(`provider-${frame.name}`, `${frame.title}, from a provider`, (scene) =>
      expectHeldBack(scene, frame),
    ),
  ]),
  expectHidden('bearer-forwarded', 'a token among the subprotocols', 'modgate.bearer.'),
  expectHidden('bearer-case', 'such a token in capital letters', 'MODGATE.Bearer.'),
  rejectHandshake('bearer-two', 'two tokens among the subprotocols', 400, (scene) => ({
    path: '/offers',
    ...offer(OWN_PROTOCOL, bearer(scene), `${bearer(scene)}A`),
  })),
  rejectHandshake('bearer-alone', `a token without ${OWN_PROTOCOL}`, 400, (scene) => ({
    path: '/offers',
    ...offer(bearer(scene)),
  })),
  rejectHandshake('bearer-beside', 'a token beside authorization', 401, (scene) => ({
    path: '/offers',
    headers: offer(OWN_PROTOCOL, bearer(scene)).headers,
  })),
  rejectHandshake('bearer-stranger', 'a token without the capability', 403, (scene) => ({
    path: '/offers',
    ...offer(OWN_PROTOCOL, `modgate.bearer.${encode(scene.tokens.stranger)}`),
  })),
  ...Object.entries(CHOICES).map(([name, protocol]) =>
    rejectHandshake(`chosen-${name}`, `a provider that chooses ${protocol}`, 502, (scene) => ({
      path: `/offers/${name}`,
      ...offer('chat', OWN_PROTOCOL, bearer(scene)),
    })),
  ),
  describe('bearer-recorded', 'a token among the subprotocols in the records', expectUnrecorded),
  ...Object.entries({
    foreign: { origin: 'https://evil.test' },
    none: {},
    null: { origin: 'null' },
    suffix: { origin: `${ALLOWED_ORIGIN}.evil.test` },
    'same-site': { 'sec-fetch-site': 'same-site' },
  }).map(([name, headers]) =>
    rejectHandshake(`cookie-${name}`, `a page with a cookie: ${name}`, 403, () => ({
      path: '/open',
      token: null,
      headers: { cookie: SESSION_COOKIE, ...headers },
    })),
  ),
  wait('unread-client', 'a client that reads nothing', (scene) => {
    const bytes = craftHandshake(scene, { path: '/flood', module: 'sockets-slow' });
    return expectUnreadStreamToEnd(scene, bytes, 'sockets-slow');
  }),
  wait('unread-provider', 'a provider that reads nothing', expectClosedForProvider),
];

function describe(name: string, title: string, attack: (scene: Scene) => Promise<Verdict>): Attack {
  return { id: `websocket-${name}`, title, attack };
}

function wait(name: string, title: string, attack: (scene: Scene) => Promise<Verdict>): Attack {
  return { ...describe(name, title, attack), isSlow: true };
}

const craftHidden = (scene: Scene) => craftRequest(scene, { target: targetOf(HIDDEN) });

function expectHiddenUncalled(scene: Scene): Verdict {
  return checkLate(scene, () => {
    const received = listReceived(scene, scene.sockets);
    const isServed = received.some(({ target }) => target === HIDDEN);
    return isServed ? 'the hidden request was served' : null;
  });
}

/** Expects a Problem instead of a 101, and the end of the connection. */
function expectRefused(scene: Scene, bytes: Buffer, status: number): Promise<Verdict> {
  return withConnection(scene, async (connection) => {
    connection.write(bytes);
    const response = await connection.read().catch(fail);
    if (response.status !== status) return `responded with ${response.status} instead of ${status}`;
    if (parseObject(response.body)?.['status'] !== status) return 'the response is not a Problem';
    return expectNoSecrets(scene, response) ?? (await expectClosed(connection));
  });
}

function fail(error: Error): never {
  throw new AttackFailure(error.message.slice(0, 100));
}

function rejectHandshake(
  name: string,
  title: string,
  status: number,
  craft: (scene: Scene) => HandshakeParts,
): Attack {
  return describe(name, title, (scene) =>
    expectRefused(scene, craftHandshake(scene, craft(scene)), status),
  );
}

/** Sends a request after a handshake that opens no WebSocket. */
function expectIgnored(
  name: string,
  title: string,
  status: number,
  craft: (scene: Scene) => HandshakeParts,
): Attack {
  return describe(name, title, async (scene) => {
    const bytes = Buffer.concat([craftHandshake(scene, craft(scene)), craftHidden(scene)]);
    return (await expectRefused(scene, bytes, status)) ?? expectHiddenUncalled(scene);
  });
}

interface Opened {
  readonly connection: RawConnection;
  readonly response: ReceivedResponse;
  /** The request at the provider. */
  readonly recorded: ReceivedRequest;
}

/** Opens a WebSocket, then closes the connection. */
function withOpened(
  scene: Scene,
  parts: HandshakeParts,
  use: (opened: Opened) => Promise<Verdict>,
): Promise<Verdict> {
  const before = listReceived(scene, scene.sockets).length;
  return withConnection(scene, async (connection) => {
    connection.write(craftHandshake(scene, parts));
    const response = await connection.read().catch(fail);
    if (response.status !== 101) return `responded with ${response.status} instead of 101`;
    const recorded = listReceived(scene, scene.sockets)[before];
    if (recorded === undefined) return 'the provider received no handshake';
    return use({ connection, response, recorded }).catch(fail);
  });
}

/** Sends bytes that are not a valid frame. Both ends must receive only a close frame. */
function expectRejectedFrame(
  scene: Scene,
  bytes: Buffer,
  path: string,
  code: number = CLOSE_CODES.protocolError,
): Promise<Verdict> {
  return withOpened(scene, { path }, async ({ connection, recorded }) => {
    connection.write(bytes);
    await connection.closed(FRAME_DEADLINE_MS);
    if (connection.unread !== createCloseFrame(code, 'server').toString('latin1')) {
      return `the client did not get a close frame with ${code} alone`;
    }
    const reason = `the provider did not get a close frame with ${code} alone`;
    // The provider ends the connection with the first bytes.
    const read = () => (recorded.body.length > 0 ? recorded.body : null);
    const body = await waitFor(reason, FRAME_DEADLINE_MS, read);
    return isCloseOfClient(body, code) ? null : reason;
  });
}

/** Checks a masked frame, whose bytes are unpredictable. */
function isCloseOfClient(bytes: Buffer, code: number): boolean {
  const [first, second, ...rest] = bytes;
  const payload = rest.slice(4).map((byte, index) => byte ^ (rest[index] ?? 0));
  return first === 0x88 && second === 0x82 && payload.join() === [code >> 8, code & 0xff].join();
}

/** Expects that a frame of the provider does not reach the client. */
function expectHeldBack(scene: Scene, { name, code }: HostileFrame): Promise<Verdict> {
  return withOpened(scene, { path: `/reply/${name}` }, async ({ connection }) => {
    const reason = `the client did not get a close frame with ${code} alone`;
    const unread = await waitFor(reason, FRAME_DEADLINE_MS, () =>
      connection.unread.length >= CLOSE_FRAME_BYTES || connection.isClosed
        ? connection.unread
        : null,
    );
    connection.write(createCloseFrame(code, 'client'));
    await connection.closed(FRAME_DEADLINE_MS);
    return unread === createCloseFrame(code, 'server').toString('latin1') ? null : reason;
  });
}

/** Expects that neither the provider nor the response contains the token. */
function expectHidden(name: string, title: string, prefix: string): Attack {
  return describe(name, title, (scene) => {
    const protocol = bearer(scene, prefix);
    const parts = { path: '/offers', ...offer('chat', protocol, OWN_PROTOCOL) };
    return withOpened(scene, parts, async ({ response, recorded }) => {
      const offered = readHeader(recorded, 'sec-websocket-protocol').join();
      if (offered !== 'chat') return `the provider was offered ${offered.length} characters`;
      const forwarded = recorded.rawHeaders.join('\n').toLowerCase();
      if (forwarded.includes(protocol.toLowerCase()) || forwarded.includes(`${scene.token}`)) {
        return 'the token was forwarded';
      }
      const chosen = headerValue(response.headers, 'sec-websocket-protocol');
      if (chosen !== OWN_PROTOCOL) return `${chosen} was chosen`;
      return expectNoSecrets(scene, response);
    });
  });
}

async function expectUnrecorded(scene: Scene): Promise<Verdict> {
  const parts = { path: '/offers', ...offer(OWN_PROTOCOL, bearer(scene)) };
  const opened = await withOpened(scene, parts, async ({ connection }) => {
    connection.write(createCloseFrame(CLOSE_CODES.goingAway, 'client'));
    await connection.closed(FRAME_DEADLINE_MS);
    return null;
  });
  if (opened !== null) return opened;
  await waitFor('the call was not recorded', FRAME_DEADLINE_MS, async () => {
    const response = await sendOnce(scene, { target: `/calls?request_id=${scene.mark}` });
    const text = response.body.toString();
    if (text.includes(encode(scene.token)) || text.includes(`${scene.token}`)) {
      throw new AttackFailure('the token was recorded');
    }
    return text.includes('"close_code":1001') ? text : null;
  });
  return null;
}

/** Expects that the host stops reading when it cannot forward. */
function expectClosedForProvider(scene: Scene): Promise<Verdict> {
  return withOpened(scene, { path: '/silent' }, async ({ connection }) => {
    const bytes = writeFlood('client');
    for (let sent = 0; sent < FLOOD_BYTES; sent += bytes.length) connection.write(bytes);
    await waitFor('the connection stayed open', CLOSE_DEADLINE_MS, () => {
      const unsent = connection.unsentBytes;
      if (connection.isClosed) return connection;
      if (unsent >= UNREAD_BYTES) return null;
      throw new AttackFailure(`the host took ${FLOOD_BYTES - unsent} bytes`);
    });
    return null;
  });
}
