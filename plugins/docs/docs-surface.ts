import { object } from 'superstruct';
import { defineSurface, SurfaceError } from '../../core/contract/index.js';
import { readPageFiles } from '../shared/page-files.js';

const PREFIX = '/docs';

/**
 * The page that shows the routes of all modules. It needs no credentials: it reads `/openapi.json` and calls
 * modules from the browser, with a token that is typed in.
 */
export const docsSurface = defineSurface({
  name: 'docs',
  prefix: PREFIX,
  config: object({}),
  open: async () => {
    const files = await readPageFiles({
      prefix: PREFIX,
      title: 'API',
      folder: new URL('./assets/', import.meta.url),
    });
    return {
      fetch: async (request) => {
        if (request.method !== 'GET' && request.method !== 'HEAD') throw wrongMethod();
        const { pathname } = new URL(request.url);
        if (pathname === PREFIX) return files.createPage();
        const file = files.findFile(pathname);
        if (file === null) throw new SurfaceError('not_found', 'the page has no such path');
        return file;
      },
    };
  },
});

function wrongMethod(): SurfaceError {
  return new SurfaceError('method_not_allowed', 'the path does not support this method', {
    headers: { allow: 'GET, HEAD' },
    nextActions: ['use GET'],
  });
}
