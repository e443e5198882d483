import { expectClosed, readResponse, withConnection } from '../../../core/selftest/expectations.js';
import { craftLines } from '../../../core/selftest/request-bytes.js';
import type { Attack, Verdict } from '../attack.js';
import { craftRequest } from '../expectations.js';
import type { Scene } from '../scene.js';

interface Row {
  readonly name: string;
  readonly title: string;
  /** Sent in one packet. */
  readonly first: (scene: Scene) => readonly Uint8Array[];
  /** The expected responses, in order. Then the connection must be closed. */
  readonly statuses: readonly number[];
  /** Sent after the last response. */
  readonly later?: (scene: Scene) => Buffer;
}

/** The target contains the mark, since the request may have no headers. */
const hiddenRoute = ({ mark }: Scene) => `/items/hidden-${mark}`;
const UPGRADE = ['Connection: upgrade', 'Upgrade: x'];

const ROWS: readonly Row[] = [
  {
    name: 'connect-behind',
    title: 'a CONNECT behind a POST does not take its response',
    first: (scene) => [craftPost(scene), Buffer.from('CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n')],
    statuses: [200, 501],
  },
  {
    name: 'garbage-behind',
    title: 'malformed bytes behind a POST do not take its response',
    first: (scene) => [craftPost(scene), Buffer.from('\0 garbage\r\n\r\n')],
    statuses: [200, 400],
  },
  {
    name: 'no-host-behind',
    title: 'a request that ends the connection ends those behind it',
    first: (scene) => [
      craftPost(scene),
      Buffer.from(`GET ${scene.base}${hiddenRoute(scene)} HTTP/1.1\r\n\r\n`),
      craftHidden(scene),
    ],
    statuses: [200, 400],
  },
  {
    name: 'upgrade-same',
    title: 'a request behind an upgrade, in the same packet',
    first: (scene) => [craftUpgrade(scene), craftHidden(scene)],
    statuses: [200],
  },
  {
    name: 'upgrade-next',
    title: 'a request behind an upgrade, in the next packet',
    first: (scene) => [craftUpgrade(scene), Buffer.from('GET /')],
    statuses: [200],
    later: craftHidden,
  },
  {
    name: 'upgrade-body',
    title: 'a request in the body of an upgrade',
    first: (scene) => {
      const rest = `{"a":"${craftHidden(scene).toString('latin1')}`;
      const lines = ['Content-Type: application/json', `Content-Length: ${rest.length}`];
      const line = `POST ${scene.base}/items HTTP/1.1`;
      return [craftLines(scene, line, [...lines, ...UPGRADE], rest)];
    },
    statuses: [400],
  },
  {
    name: 'upgrade-settings',
    title: 'a request behind an upgrade to HTTP/2',
    first: (scene) => {
      const lines = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMA'];
      const head = craftLines(scene, `GET ${scene.base}/items HTTP/1.1`, lines);
      return [head, Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')];
    },
    statuses: [200],
    later: craftHidden,
  },
];

export const ORDER_CASES: readonly Attack[] = ROWS.map((row) => ({
  id: `smuggling-${row.name}`,
  title: row.title,
  attack: (scene) => attack(scene, row),
}));

async function attack(scene: Scene, row: Row): Promise<Verdict> {
  const failure = await withConnection(scene, async (connection) => {
    connection.write(Buffer.concat(row.first(scene)));
    for (const expected of row.statuses) {
      const response = await readResponse(connection);
      if (response.status !== expected) {
        return `responded with ${response.status} instead of ${expected}`;
      }
    }
    if (row.later !== undefined) connection.write(row.later(scene));
    return expectClosed(connection);
  });
  if (failure !== null) return failure;
  const isSmuggled = scene.provider.requests.some(({ target }) => target === hiddenRoute(scene));
  return isSmuggled ? 'the provider received the hidden request' : null;
}

function craftPost(scene: Scene): Buffer {
  return craftRequest(scene, { method: 'POST', target: `${scene.base}/items`, body: '{}' });
}

function craftHidden(scene: Scene): Buffer {
  return craftRequest(scene, { target: scene.base + hiddenRoute(scene) });
}

function craftUpgrade(scene: Scene): Buffer {
  return craftLines(scene, `GET ${scene.base}${scene.route} HTTP/1.1`, UPGRADE);
}
