import { defineSurface } from '../../core/contract/index.js';
import { readBundle } from '../shared/bundle.js';
import { consoleConfig } from './config.js';
import { Console } from './console.js';
import { CONSOLE } from './paths.js';

const bundle = readBundle(import.meta.url);

/** The console of operators. */
export const consoleSurface = defineSurface({
  name: 'console',
  prefix: CONSOLE,
  authentication: 'own',
  config: consoleConfig,
  ...(bundle !== null && { uiDigest: bundle.digest }),
  open: (config, context) => new Console({ config, context, bundle }),
});
