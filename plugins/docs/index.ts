import { object } from 'superstruct';
import { defineSurface, type Plugin } from '../../core/contract/index.js';
import { readBundle } from '../shared/bundle.js';
import { findPage, type Pages, servePages } from '../shared/serve-pages.js';

const PREFIX = '/docs';
const pages: Pages = { prefix: PREFIX, bundle: readBundle(import.meta.url), onlyPath: PREFIX };

/**
 * Shows the routes of all modules. It needs no credentials: the browser reads `/openapi.json` and
 * calls modules with a token that the user enters.
 */
export const docsSurface = defineSurface({
  name: 'docs',
  prefix: PREFIX,
  maxBodyBytes: 0,
  config: object({}),
  open: () => ({
    admit: (request) => {
      findPage(pages, request);
    },
    fetch: async (request) => servePages(pages, request),
  }),
});

export default { surfaces: [docsSurface] } satisfies Plugin;
