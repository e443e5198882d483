import type { CheckedAuthenticator } from '../auth/checked-authenticator.js';
import type { Log } from '../contract/index.js';
import { createToken } from '../injection.js';
import type { Store } from '../store/store.js';

// Tokens of lower layers; all others are declared beside their types.

export const LOG = createToken<Log>('log');

export const STORE = createToken<Store>('store');

/** The authenticators, in the order of their calls. */
export const AUTHENTICATORS = createToken<readonly CheckedAuthenticator[]>('authenticators');

/** The request headers for credentials; lower-case names. */
export const CREDENTIAL_HEADERS = createToken<readonly string[]>('credential-headers');

export const MODULES_FOLDER = createToken<string>('modules-folder');
