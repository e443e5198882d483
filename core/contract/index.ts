/** Everything that a plugin may import from modgate: `modgate/contract`. */
export * from './actor.js';
export * from './adapter.js';
export * from './authenticator.js';
export * from './cancellation.js';
export * from './failure.js';
export * from './log.js';
export * from './manifest.js';
export * from './method.js';
export * from './operation.js';
export * from './plugin.js';
export * from './provider.js';
export * from './references.js';
export * from './scope.js';
export * from './secret.js';
