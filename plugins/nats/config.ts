import { array, define, type Infer, object, omit, optional, refine, size } from 'superstruct';
import { fileReference, secretReference } from '../../core/contract/index.js';
import { health } from '../http/config.js';

/** Where `inbox` puts the subjects of answers. */
export const DEFAULT_INBOX = '_INBOX';

/** A cluster names more by DNS. */
const MAX_SERVERS = 16;

/** With an operation and a token behind it a subject stays well below the 4 KiB that a server takes in a line. */
const MAX_SUBJECT_LENGTH = 200;

const SERVER = /^(?:nats|tls):\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?$/;
/** Tokens without a wildcard, and without what NATS clients disagree about. */
const SUBJECT = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

const server = define<string>(
  'nats:// or tls:// with a host and perhaps a port, without credentials',
  (value) => typeof value === 'string' && SERVER.test(value) && URL.canParse(value),
);

const subject = define<string>(
  'subject of letters, digits, hyphens and underscores between dots',
  (value) => typeof value === 'string' && value.length <= MAX_SUBJECT_LENGTH && SUBJECT.test(value),
);

const user = define<string>(
  'name of a user',
  (value) => typeof value === 'string' && value.length > 0,
);

const auth = refine(
  object({
    user: optional(object({ name: user, password: secretReference() })),
    token: optional(secretReference()),
    nkey: optional(secretReference()),
    creds: optional(secretReference()),
  }),
  'exactly one of user, token, nkey and creds',
  (value) => Object.values(value).filter((part) => part !== undefined).length === 1,
);

const tls = refine(
  object({
    ca: optional(fileReference()),
    cert: optional(fileReference()),
    key: optional(fileReference()),
  }),
  'a mapping with cert and key together, or with neither',
  (value) => (value.cert === undefined) === (value.key === undefined),
);

/** `provider.config` of kind `nats`. */
export const natsConfig = object({
  servers: size(array(server), 1, MAX_SERVERS),
  subject,
  inbox: optional(subject),
  auth: optional(auth),
  tls: optional(tls),
  // A check is a message of its own, to no path.
  health: optional(omit(health, ['path'])),
});

export type NatsConfig = Infer<typeof natsConfig>;
