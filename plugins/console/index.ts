import { defineSurface, type Plugin } from '../../core/contract/index.js';
import { readBundle } from '../shared/bundle.js';
import { consoleConfig } from './config.js';
import { Console } from './console.js';
import { CONSOLE } from './paths.js';

/** Tokens have a few kilobytes. */
const MAX_SIGN_IN_BYTES = 32_768;

const bundle = readBundle(import.meta.url);

export const consoleSurface = defineSurface({
  name: 'console',
  prefix: CONSOLE,
  authentication: 'own',
  maxAnonymousBodyBytes: MAX_SIGN_IN_BYTES,
  config: consoleConfig,
  ...(bundle !== null && { uiDigest: bundle.digest }),
  open: (config, context) => new Console({ config, context, bundle }),
});

export default { surfaces: [consoleSurface] } satisfies Plugin;
