import type { Manifest } from '../../../core/contract/index.js';

/** The scopes of the host's own routes and of consoles. */
const HOST_SCOPES = [
  'console.admin',
  'modgate.approvals',
  'modgate.audit.read',
  'modgate.calls.read',
  'modgate.explain',
  'modgate.metrics.read',
  'modgate.modules.read',
  'modgate.plugins.read',
  'modgate.sessions',
] as const;
/** Below the limit of the authenticator for development tokens. */
const MAX_LENGTH = 7000;

/** A development token of a user who may do everything that these modules offer. */
export function createDeveloperToken(manifests: readonly Manifest[]): string {
  const capabilities = manifests.flatMap((manifest) => manifest.capabilities);
  const scopes = [...new Set([...HOST_SCOPES, ...capabilities])].join(',');
  const token = `dev-user:developer:${scopes}`;
  // A system needs no scopes, but it is not a person.
  return token.length > MAX_LENGTH ? 'dev-system:developer' : token;
}
