import { describeModule } from './modules.js';
import { type ScriptedHost, useScriptedProvider } from './use-scripted-provider.js';

const BYTES = { response: 'bytes' };
const ROUTES = [
  { method: 'GET', path: '/files/{rest...}', capability: 'files.read', operation: BYTES },
  {
    method: 'POST',
    path: '/files/{rest...}',
    capability: 'files.write',
    operation: { body: 'bytes' },
  },
  {
    method: 'PUT',
    path: '/files/{rest...}',
    capability: 'files.write',
    operation: { body: 'bytes', ...BYTES },
  },
  {
    method: 'GET',
    path: '/images/{id}',
    capability: 'files.read',
    operation: {
      ...BYTES,
      response_types: ['image/*', 'application/pdf'],
      response_max_bytes: 100,
    },
  },
  {
    method: 'POST',
    path: '/images',
    capability: 'files.write',
    operation: {
      body: 'bytes',
      body_types: ['image/*', 'multipart/form-data'],
      body_max_bytes: 1000,
    },
  },
];

/**
 * A host with routes of bytes in both modes: `files` in the envelope's mode, `raw` with digests, `quick` with short limits,
 * `brief` with a short timeout.
 */
export function useBytes(): ScriptedHost {
  return useScriptedProvider((url) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, url, ROUTES, overrides);
    const limits = { body_idle_ms: 1000, timeout_ms: 1000 };
    return {
      'files.json': describe('files', { responses: { expose_headers: ['x-pages', 'etag'] } }),
      'raw.json': describe('raw', { responses: { mode: 'raw' }, records: { digests: true } }),
      'quick.json': describe('quick', { limits }),
      'brief.json': describe('brief', { limits: { timeout_ms: 1000 } }),
      'small.json': describe('small', { limits: { bytes: { request: 64, response: 64 } } }),
    };
  });
}
