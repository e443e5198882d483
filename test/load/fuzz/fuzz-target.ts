import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { GOOD_TARGET, TOKEN } from './request-seeds.js';

/** The host that the requests are sent to. */
export interface FuzzTarget {
  readonly address: { readonly host: string; readonly port: number };
  /** Writes a file into the folder of descriptors. */
  drop(name: string, bytes: Buffer): void;
}

interface FuzzHost extends FuzzTarget {
  readonly host: HostProcess;
  close(): Promise<void>;
}

const SCOPES = ['shop.use', 'modgate.modules.read', 'modgate.calls.read', 'modgate.explain'];

/** Short timeouts, so that hanging requests end soon. Load shedding is off for busy machines. */
const ARGUMENTS = [
  ...['--env', 'production', '--log-success-sample', '0', '--shed-delay-ms', '600000'],
  ...['--head-timeout-ms', '500', '--body-timeout-ms', '500', '--request-timeout-ms', '1000'],
  ...['--idle-timeout-ms', '500'],
];

/** Starts a host in production with one valid module, `shop`. */
export async function startFuzzHost(): Promise<FuzzHost> {
  const provider = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  // Does not keep the process alive if the host fails to start.
  provider.unref();
  const { port } = provider.address() as AddressInfo;
  const host = await startHostProcess({
    dev: false,
    args: ARGUMENTS,
    tokens: {
      tokens: [{ id: 'owner', kind: 'service', scopes: SCOPES, sha256: hash('sha256', TOKEN) }],
    },
    files: { 'shop.json': describeShop(`http://127.0.0.1:${port}`) },
  });
  return {
    host,
    address: { host: '127.0.0.1', port: host.port },
    drop: (name, bytes) => writeFileSync(join(host.directory, 'modules.d', name), bytes),
    close: async () => {
      await host.kill();
      provider.closeAllConnections();
      await new Promise((resolve) => provider.close(resolve));
    },
  };
}

function describeShop(url: string) {
  const routes = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
    ['/items', '/items/{id}', '/files/{path...}'].map((path) => ({
      method,
      path,
      capability: 'shop.use',
    })),
  );
  return {
    module: 'shop',
    provider: { kind: 'http', config: { endpoints: [url] } },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: 'shop',
        capabilities: ['shop.use'],
        http_routes: routes,
      },
    },
  };
}

/** A call that must always be served. */
export function craftGood(): Buffer {
  const lines = [`GET ${GOOD_TARGET} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${TOKEN}`];
  return Buffer.from(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
}
