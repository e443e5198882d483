import { buildManifest } from '../http/modules.js';

const ROUTES = [
  { method: 'GET', path: '/who', capability: 'who.ask' },
  { method: 'GET', path: '/who/{after_ms}', capability: 'who.ask' },
];

/** A module that responds with the pid of its process, immediately or after a delay. */
export const WHO_MODULE: Readonly<Record<string, string | object>> = {
  'who.json': {
    module: 'who',
    provider: { kind: 'local', config: { file: './who.mjs' } },
    manifest: { inline: buildManifest('who', ROUTES) },
    limits: { timeout_ms: 60_000 },
  },
  'who.mjs': `export default async ({ pathParams }) => {
    await new Promise((resolve) => setTimeout(resolve, Number(pathParams?.after_ms ?? 0)));
    return { status: 200, headers: { 'content-type': 'application/json' }, body: { pid: process.pid } };
  };`,
};

export const WHO = '/modules/who/http/who';
