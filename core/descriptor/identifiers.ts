import { matching, named } from '../contract/described.js';

/** The name of a module, and the `module_id` of a manifest. */
export const MODULE_NAME = /^[a-z0-9][a-z0-9._-]{0,62}(?:\/[a-z0-9][a-z0-9._-]{0,62})?$/;
/** Ends the message about a name that does not match. */
export const MODULE_NAME_RULE = 'lower-case letters, digits, ., _ and -, at most 63 in a part';

/** Digests of releases, UI artifacts and manifests. */
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** A capability is granted as a scope, so it is visible ASCII without a comma. */
const CAPABILITY = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;

export const moduleName = named(
  'moduleName',
  matching('a module name, such as crm or acme/crm, in lower case', MODULE_NAME),
);

export const digest = named(
  'digest',
  matching('a digest: sha256: and 64 lower-case hex digits', DIGEST),
);

export const capability = named(
  'capability',
  matching('a capability: at most 128 visible ASCII characters, no comma, no space', CAPABILITY),
);

/** The word for the UI bundles that ship with the host. */
export const BUILTIN_UI = 'builtin';
