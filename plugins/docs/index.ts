import { object } from 'superstruct';
import { defineSurface, type Plugin } from '../../core/contract/index.js';
import { readBundle } from '../shared/bundle.js';
import { servePages } from '../shared/serve-pages.js';
import { createNotFound } from '../shared/surface-errors.js';

const PREFIX = '/docs';
const pages = { prefix: PREFIX, bundle: readBundle(import.meta.url) };

/**
 * Shows the routes of all modules. It needs no credentials: the browser reads `/openapi.json` and
 * calls modules with a token that the user enters.
 */
const docsSurface = defineSurface({
  name: 'docs',
  prefix: PREFIX,
  maxBodyBytes: 0,
  config: object({}),
  open: () => ({
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname !== PREFIX && !pathname.startsWith(`${PREFIX}/assets/`)) {
        throw createNotFound(PREFIX);
      }
      return servePages(pages, request);
    },
  }),
});

export default { surfaces: [docsSurface] } satisfies Plugin;
