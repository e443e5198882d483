import { matching } from '../document/structs.js';

/** Contract 1.2: the name of a module, and the `module_id` of a manifest. */
export const MODULE_NAME = /^[a-z0-9][a-z0-9._-]{0,62}(?:\/[a-z0-9][a-z0-9._-]{0,62})?$/;

/** Contract 4: release, UI artifact and manifest digests. */
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Contract 3: a capability is granted as a scope, hence visible ASCII without a comma. */
export const CAPABILITY = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;

export const moduleName = matching(
  'a module name, such as crm or acme/crm, in lower case',
  MODULE_NAME,
);

export const digest = matching('a digest: sha256: and 64 lower-case hex digits', DIGEST);

export const capability = matching(
  'a capability: at most 128 visible ASCII characters, no comma, no space',
  CAPABILITY,
);
