import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueToken } from './issued-token.mjs';
import { PAYLOADS } from './payloads.mjs';

const CAPABILITY = 'bench.call';
const TOKEN = 'bench-token';
/** Longest response of a module that does not set `limits.response_bytes`. */
const MAX_HELD_BYTES = 4_194_304;
/** The default of `limits.request_bytes`. */
const MAX_REQUEST_BYTES = 1_048_576;
/** Longer than every payload. */
const MAX_STREAMED_BYTES = 33_554_432;
/** More streams than connections, which all belong to one caller. */
const MAX_STREAMS = 1000;
/** More events a second than a stream can have. */
const MAX_UNITS = 1_000_000;

/**
 * A folder of descriptors, a tokens file and a state folder, all temporary. `module` is called by every
 * scenario, and the last of them, by name and by file: a search that is linear would show.
 * @param {{ upstream: string, kind: 'http' | 'local', modules: number, routes: number, mode: 'envelope' | 'raw', holdBytes: number | null }} options
 */
export function createModulesFolder({ upstream, kind, modules, routes, mode, holdBytes }) {
  const root = mkdtempSync(join(tmpdir(), 'modgate-bench-'));
  const folder = join(root, 'modules.d');
  mkdirSync(folder);
  const names = Array.from(
    { length: modules },
    (_, index) => `bench${String(index).padStart(4, '0')}`,
  );
  const provider =
    kind === 'http'
      ? { kind, config: { endpoints: [upstream] } }
      : { kind, config: { file: './bench.local.mjs' } };
  if (kind === 'local') writeFileSync(join(folder, 'bench.local.mjs'), createLocalModule());
  for (const name of names) {
    writeFileSync(
      join(folder, `${name}.json`),
      JSON.stringify({
        module: name,
        provider,
        manifest: `./${name}.manifest.json`,
        ...(mode === 'raw' && { responses: { mode } }),
        limits: {
          stream: { per_actor: MAX_STREAMS, total: MAX_STREAMS, units_s: MAX_UNITS },
          ...(holdBytes !== null && {
            hold_bytes: holdBytes,
            hold_request_bytes: Math.min(holdBytes, MAX_REQUEST_BYTES),
            response_bytes: MAX_STREAMED_BYTES,
          }),
        },
      }),
    );
    writeFileSync(
      join(folder, `${name}.manifest.json`),
      JSON.stringify(createManifest(name, routes, listPayloads(kind))),
    );
  }
  const tokens = join(root, 'tokens.json');
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  writeFileSync(
    tokens,
    JSON.stringify({ tokens: [{ id: 'bench', kind: 'service', scopes: [CAPABILITY], sha256 }] }),
  );
  const issued = issueToken(root, CAPABILITY);
  return {
    folder,
    tokens,
    issuers: issued.issuers,
    state: join(root, 'state'),
    log: join(root, 'host.log'),
    prefix: `/modules/${names.at(-1)}/http`,
    headers: { authorization: `Bearer ${TOKEN}` },
    issuedHeaders: { authorization: `Bearer ${issued.token}` },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** The payloads come last, behind as many other routes as are asked for. */
function createManifest(name, routes, payloads) {
  const others = Array.from({ length: Math.max(0, routes - payloads.length) }, (_, index) => ({
    method: 'GET',
    path: `/others/${index}/{id}`,
    capability: CAPABILITY,
  }));
  return {
    protocol: 'modgate.manifest.v1',
    module_id: name,
    version: '1.0.0',
    capabilities: [CAPABILITY],
    http_routes: [
      ...others,
      ...payloads.map(({ method, path, type, stream }) => ({
        method,
        path,
        capability: CAPABILITY,
        ...(type !== undefined && {
          operation:
            stream === undefined ? { response: 'bytes', response_types: [type] } : { stream },
        }),
      })),
    ],
  };
}

/** A module in the process responds with JSON that is held. */
function listPayloads(kind) {
  if (kind === 'http') return PAYLOADS;
  return PAYLOADS.filter(({ type, answer }) => type === undefined && answer.length <= MAX_HELD_BYTES);
}

function createLocalModule() {
  const answers = listPayloads('local').map(
    ({ path, answer }) => `[${JSON.stringify(path)}, Buffer.from(${JSON.stringify(answer)})]`,
  );
  return `const answers = new Map([${answers.join(',\n')}]);
const headers = { 'content-type': 'application/json' };
export default async ({ declaredPath }) => ({ status: 200, headers, body: answers.get(declaredPath) });
`;
}
