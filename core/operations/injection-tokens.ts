import type { Authenticator } from '../contract/index.js';
import { createToken } from '../injection.js';
import type { GenerationSource } from '../modules/live-module.js';
import type { Store } from '../store/store.js';

export const GENERATIONS = createToken<GenerationSource>('generations');

export const AUTHENTICATORS = createToken<readonly Authenticator[]>('authenticators');

export const STORE = createToken<Store>('store');
