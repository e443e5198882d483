import { fileURLToPath } from 'node:url';
import { defineSurface } from '../../core/contract/index.js';
import { consoleConfig } from './config.js';
import { Console } from './console.js';
import { readBundle } from './pages/bundle.js';

const bundle = readBundle(fileURLToPath(new URL('./web', import.meta.url)));

/** The console of operators. */
export const consoleSurface = defineSurface({
  name: 'console',
  prefix: '/console',
  authentication: 'own',
  config: consoleConfig,
  ...(bundle !== null && { uiDigest: bundle.digest }),
  open: (config, context) => new Console({ config, context, bundle }),
});
